package soft

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestHeap compares take and give with a table of owned bytes.
func TestHeap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h heap
		type piece struct{ at, n int }
		var out []piece
		owned := map[int]bool{}
		mark := func(p piece, to bool) {
			for i := p.at; i < p.at+p.n; i++ {
				require.NotEqual(t, to, owned[i], "byte %d of %v", i, p)
				owned[i] = to
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				p := piece{n: rapid.IntRange(1, 20).Draw(t, "bytes")}
				p.at = h.take(p.n)
				require.LessOrEqual(t, p.at+p.n, h.top)
				mark(p, true)
				out = append(out, p)
			},
			"give": func(t *rapid.T) {
				if len(out) == 0 {
					t.Skip("nothing is taken")
				}
				k := rapid.IntRange(0, len(out)-1).Draw(t, "piece")
				mark(out[k], false)
				h.give(out[k].at, out[k].n)
				out[k] = out[len(out)-1]
				out = out[:len(out)-1]
			},
			"": func(t *rapid.T) {
				for i, g := range h.gaps { // gaps are free and never adjacent
					require.Positive(t, g.bytes)
					require.True(t, i == 0 || h.gaps[i-1].at+h.gaps[i-1].bytes < g.at)
					for k := g.at; k < g.at+g.bytes; k++ {
						require.False(t, owned[k])
					}
				}
			},
		})
		for _, p := range out {
			h.give(p.at, p.n)
		}
		if h.top > 0 {
			require.Equal(t, []gap{{0, h.top}}, h.gaps, "everything is free")
		}
	})
}
