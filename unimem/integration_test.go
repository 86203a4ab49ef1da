package unimem_test

import (
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// The round trip: take, write, read through another mapping of the same pages, verify.
func TestRoundTrip(t *testing.T) {
	overMemories(t, func(t *testing.T, memory unimem.Option) {
		random := rand.NewChaCha8([32]byte{1})
		t.Run("grid", func(t *testing.T) {
			for _, way := range []unimem.Option{nil, unimem.SurfacePerCell()} {
				g := newGrid(t, 4096+64, 4, memory, way)
				for range 10 {
					var cells []unimem.Cell
					var sums []uint32
					for range g.Total() {
						c, err := g.Take()
						require.NoError(t, err)
						sums = append(sums, write(t, random, c.Bytes()))
						cells = append(cells, c)
					}
					for i, c := range cells {
						require.Equal(t, sums[i], sum(t, c.Block(), c.Offset(), len(c.Bytes())))
						require.NoError(t, g.Give(c))
					}
				}
			}
		})
		t.Run("tape", func(t *testing.T) { tapeRoundTrip(t, random, start(t, 4*page, memory)) })
		t.Run("layout", func(t *testing.T) {
			l, err := unimem.NewLayout(4*page, 2*page, 3*page, memory)
			require.NoError(t, err)
			weights, err := l.Weights().Take(3*page, 64)
			require.NoError(t, err)
			loaded := write(t, random, weights)
			for range 5 {
				tapeRoundTrip(t, random, l.Scratch())
				tapeRoundTrip(t, random, l.History())
				l.ClearPass()
				l.ClearTalk()
			}
			require.Equal(t, loaded, sum(t, l.Weights().Block(), 0, len(weights)), "a pass does not change weights")
			require.NoError(t, l.Close())
		})
	})
}

func tapeRoundTrip(t *testing.T, random *rand.ChaCha8, tape *unimem.Tape) {
	for range 3 {
		var spans [][]byte
		var sums []uint32
		for size := 1; ; size = size*3 + 1 {
			s, err := tape.Take(size, 64)
			if err != nil {
				require.Equal(t, unimem.ErrTapeFull, err)
				break
			}
			spans = append(spans, s)
			sums = append(sums, write(t, random, s))
		}
		require.NotEmpty(t, spans)
		for i, s := range spans {
			_, at, err := tape.Place(s)
			require.NoError(t, err)
			require.Equal(t, sums[i], sum(t, tape.Block(), at, len(s)))
		}
		tape.Clear()
	}
}

// write fills b and returns its checksum.
func write(t *testing.T, random *rand.ChaCha8, b []byte) uint32 {
	_, err := random.Read(b)
	require.NoError(t, err)
	return crc32.ChecksumIEEE(b)
}

// sum returns the checksum of a piece of a Block, read through another mapping.
func sum(t *testing.T, b *unimem.Block, at, size int) uint32 {
	m, err := unimem.Map(b)
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close()) }()
	return crc32.ChecksumIEEE(m.Bytes()[at : at+size])
}
