//go:build !macrules

package vulkan

import (
	"context"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/unimem"
)

// The memory of this process grows by less than 0.05 MB when a kernel reads and writes a Block of 16 MB in place, and
// by the whole 16 MB on the copying path. Free memory of Go goes back to the system before each reading. What drivers
// and the runtime do at the same time disturbs single measurements, so many count: a copy shows in each. Buffers of all
// rounds stay open until the last: a driver's allocator may keep the pages of a closed one for the next.
func TestGrowth(t *testing.T) {
	const size, limit, rounds = 16 << 20, 50_000, 40
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	device(t) // skips where there is none
	// Without the validation layer, which keeps records of its own.
	d, err := Open(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close(context.Background())) }()
	k := kernel(t, d, Scale())
	scale := func(buf *Buffer) {
		run(t, d, Dispatch{Kernel: k, Buffers: []Range{buf.Range(0, size), buf.Range(0, size)},
			Push: push(size/4, float32(2), float32(1)), Groups: [3]int{256, 1, 1}})
	}
	var all []int64
	var open []*Buffer
	measure := func(good func(grown int64) bool, make func(b *unimem.Block) *Buffer) (grown int64) {
		for range rounds {
			b, err := unimem.Open(size, unimem.Warm())
			require.NoError(t, err)
			debug.FreeOSMemory()
			before, err := procmem.Proportional()
			require.NoError(t, err)
			buf := make(b)
			scale(buf)
			debug.FreeOSMemory()
			after, err := procmem.Proportional()
			require.NoError(t, err)
			require.EqualValues(t, 0x3c003c00, words(buf.Bytes())[size/4-1], "2*0+1 in fp16")
			if buf.block == nil { // memory of the driver
				open = append(open, buf)
			} else {
				require.NoError(t, buf.Close())
			}
			require.NoError(t, b.Close())
			all = append(all, after-before)
			if grown = after - before; good(grown) {
				break
			}
		}
		return grown
	}
	inPlace := measure(func(n int64) bool { return n > -limit && n < limit }, func(b *unimem.Block) *Buffer {
		buf, err := d.Import(t.Context(), b)
		require.NoError(t, err)
		return buf
	})
	copied := measure(func(n int64) bool { return n >= 16_000_000 }, func(b *unimem.Block) *Buffer {
		if d.Info().Kind == "discrete" { // whose own memory is none of this process
			other, err := unimem.Open(size, unimem.Warm())
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, other.Close()) })
			copy(other.Bytes(), b.Bytes())
			buf, err := d.Import(t.Context(), other)
			require.NoError(t, err)
			return buf
		}
		buf, err := d.NewBuffer(t.Context(), b.Size())
		require.NoError(t, err)
		copy(buf.Bytes(), b.Bytes())
		return buf
	})
	for _, buf := range open {
		require.NoError(t, buf.Close())
	}
	t.Logf("rounds: %v", all)
	t.Logf("in place %.3f MB, copied %.3f MB", float64(inPlace)/1e6, float64(copied)/1e6)
	require.Less(t, inPlace, int64(limit))
	require.Greater(t, inPlace, int64(-limit), "the measurement itself moves less than that")
	require.GreaterOrEqual(t, copied, int64(16_000_000))
}
