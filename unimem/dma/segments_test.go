package dma

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/anekit/anekit/unimem"
)

// requireMapped checks that segments are b, in order, page by page, through the DART.
func requireMapped(t rapid.TB, d *Device, b *unimem.Block, segments []Segment) {
	t.Helper()
	at := 0
	for i, s := range segments {
		require.NotZero(t, s.Length)
		require.Zero(t, (s.Address|s.Length)%PageSize, "segment %d", i)
		for off := uint64(0); off < s.Length; off += PageSize {
			mark := []byte{byte(at>>14) + 1, byte(at >> 22)}
			require.NoError(t, d.model.table.Store(s.Address+off, mark))
			require.Equal(t, mark, b.Bytes()[at:at+2])
			require.NoError(t, d.model.table.Store(s.Address+off+PageSize-2, mark))
			require.Equal(t, mark, b.Bytes()[at+PageSize-2:at+PageSize])
			at += PageSize
		}
	}
	require.Equal(t, b.Size(), at)
}

// Blocks of every size up to 70 pages, and of odd sizes in bytes, with segments of one page and more.
func TestSegmentsOfEverySize(t *testing.T) {
	for _, longest := range []int{1, 2, 3, 32, 100} {
		d := simulate(t, longestSegment(uint64(longest*PageSize)))
		for size := 1; size <= 70*PageSize; size += PageSize - 1 {
			b, err := unimem.Open(size)
			require.NoError(t, err)
			s, err := d.Segments(b)
			require.NoError(t, err)
			pages := b.Size() / PageSize
			require.Equal(t, (size+PageSize-1)/PageSize, pages)
			require.Len(t, s, (pages+longest-1)/longest)
			require.Len(t, d.model.commands, (len(s)+MaxSegments-1)/MaxSegments)
			requireMapped(t, d, b, s)
			faults := d.faults()
			last := s[len(s)-1]
			require.Error(t, d.model.table.Store(last.Address+last.Length, []byte{1}), "after the last segment")
			require.NoError(t, d.Release(b))
			for _, x := range s {
				require.Error(t, d.model.table.Store(x.Address, []byte{1}), "unmapped")
			}
			require.Equal(t, faults+1+uint64(len(s)), d.faults())
			require.ErrorIs(t, d.Release(b), ErrNotMapped, "a second time")
			require.NoError(t, b.Close())
		}
	}
}

// Blocks of any sizes come and go in few addresses: each mapped one keeps its own pages, exhaustion changes nothing,
// and in the end all addresses are free in one piece.
func TestExhaustionLeavesOthersAlone(t *testing.T) {
	const pages = 96
	full := 0
	rapid.Check(t, func(t *rapid.T) {
		d := simulate(t, Addresses(pages*PageSize),
			longestSegment(rapid.Uint64Range(1, 40).Draw(t, "longest in pages")*PageSize))
		type held struct {
			b *unimem.Block
			s []Segment
		}
		var all []held
		used := 0
		t.Repeat(map[string]func(*rapid.T){
			"release": func(t *rapid.T) {
				if len(all) == 0 {
					t.Skip("nothing is mapped")
				}
				i := rapid.IntRange(0, len(all)-1).Draw(t, "block")
				h := all[i]
				all[i] = all[len(all)-1]
				all = all[:len(all)-1]
				requireMapped(t, d, h.b, h.s)
				require.NoError(t, d.Release(h.b))
				used -= h.b.Size() / PageSize
				require.NoError(t, h.b.Close())
			},
			"segments": func(t *rapid.T) {
				b, err := unimem.Open(rapid.IntRange(1, 50).Draw(t, "pages") * PageSize)
				require.NoError(t, err)
				n := b.Size() / PageSize
				s, err := d.Segments(b)
				if used+n > pages {
					full++
					require.ErrorIs(t, err, ErrExhausted)
					require.Equal(t, len(all), d.reached())
					require.ErrorIs(t, d.Release(b), ErrNotMapped)
					require.NoError(t, b.Close(), "a refused Block is not retained")
					return
				}
				require.NoError(t, err, "%d pages of %d are used", used, pages)
				used += n
				all = append(all, held{b, s})
			},
		})
		for _, h := range all {
			requireMapped(t, d, h.b, h.s)
			require.NoError(t, errors.Join(d.Release(h.b), h.b.Close()))
		}
		require.Zero(t, d.model.table.Live())
		require.Zero(t, d.faults())
		whole := newBlock(t, PageSize)
		s, err := d.Segments(whole)
		require.NoError(t, err)
		require.EqualValues(t, addressStart, s[0].Address)
		require.NoError(t, d.Release(whole))
	})
	require.Positive(t, full)
}
