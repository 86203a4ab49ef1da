package membench_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/membench"
	"github.com/anekit/anekit/unimem"
)

// Every case that needs no gigabyte measures something, allocates only where it opens a Block, and leaves no memory.
func TestCases(t *testing.T) {
	before, seen := unimem.Live(), map[string]bool{}
	for _, c := range membench.Cases() {
		require.NotEmpty(t, c.What)
		require.False(t, seen[c.Name], c.Name)
		seen[c.Name] = true
		if c.Bytes > 0 {
			continue
		}
		r, err := c.Measure(t.Context(), 3, time.Millisecond)
		require.NoError(t, err, c.Name)
		require.Equal(t, c.Name, r.Name)
		require.Positive(t, r.Measured)
		require.Positive(t, r.Floor)
		require.InEpsilon(t, r.Measured/r.Floor, r.Ratio, 1e-9)
		if c.Name != "BlockOpen16MB" && c.Name != "BlockOpen256MB" {
			require.Zero(t, r.Allocs, c.Name)
		}
	}
	require.Equal(t, before, unimem.Live())
}

// The vectors write every word of the memory, and none behind it.
func TestVectorsWriteEverything(t *testing.T) {
	b, err := unimem.Open(2 * unimem.PageSize)
	require.NoError(t, err)
	for _, size := range []int{0, 128, 4096, unimem.PageSize} {
		words, err := unimem.View[uint64](b.Bytes())
		require.NoError(t, err)
		clear(words)
		membench.Vectors(b.Bytes()[:size])
		for i, v := range words {
			if want := map[bool]uint64{true: 1}[8*i < size]; v != want {
				t.Fatalf("%d bytes: word %d is %d", size, i, v)
			}
		}
	}
	require.NoError(t, b.Close())
}

func TestMeasureSize(t *testing.T) {
	before := unimem.Live()
	for _, n := range []int{4 << 10, 1 << 20} {
		s, err := membench.MeasureSize(t.Context(), n)
		require.NoError(t, err)
		require.Equal(t, n, s.Bytes)
		for _, f := range []membench.Figure{s.Open, s.FirstTouch, s.Drop} {
			require.Positive(t, f.Time)
			require.Positive(t, f.Floor)
			require.InEpsilon(t, float64(f.Time)/float64(f.Floor), f.Ratio, 0.05) // both are rounded
		}
		for _, f := range []membench.Figure{s.Write, s.Read} {
			require.Positive(t, f.Rate)
			require.InEpsilon(t, float64(f.FloorRate)/float64(f.Rate), f.Ratio, 1e-6)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := membench.MeasureSize(ctx, 4<<10)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, before, unimem.Live())
}
