package soft

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	tests "github.com/anekit/anekit/internal/budget"
)

// TestHeap compares take and give with a table of owned bytes.
func TestHeap(t *testing.T) {
	tests.SkipEmulated(t)
	tests.Heavy(t, "200 random heaps")
	for round := range 200 {
		r := rand.New(rand.NewPCG(uint64(round), 3))
		var h heap
		type piece struct{ at, n int }
		var out []piece
		owned := make([]bool, 4096)
		mark := func(p piece, to bool) {
			for i := p.at; i < p.at+p.n; i++ {
				require.NotEqual(t, to, owned[i], "byte %d of %v in round %d", i, p, round)
				owned[i] = to
			}
		}
		for range 120 {
			if len(out) > 0 && r.IntN(5) < 2 {
				k := r.IntN(len(out))
				mark(out[k], false)
				h.give(out[k].at, out[k].n)
				out[k] = out[len(out)-1]
				out = out[:len(out)-1]
				continue
			}
			p := piece{n: 1 + r.IntN(20)}
			p.at = h.take(p.n)
			require.LessOrEqual(t, p.at+p.n, h.top)
			mark(p, true)
			out = append(out, p)
		}
		for i, g := range h.gaps { // gaps are free and never adjacent
			require.Positive(t, g.bytes)
			require.True(t, i == 0 || h.gaps[i-1].at+h.gaps[i-1].bytes < g.at)
			for k := g.at; k < g.at+g.bytes; k++ {
				require.False(t, owned[k])
			}
		}
		for _, p := range out {
			h.give(p.at, p.n)
		}
		require.Equal(t, []gap{{0, h.top}}, h.gaps, "everything is free")
	}
}
