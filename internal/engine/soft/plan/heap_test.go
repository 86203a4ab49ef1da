package plan

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft/kernels"
	"github.com/anekit/anekit/internal/engine/soft/run"
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

// TestHeapTakesTheSmallestGap frees 10, 6, 6 and 20 bytes with pieces of 1 between them.
func TestHeapTakesTheSmallestGap(t *testing.T) {
	free := func() *heap {
		h := &heap{}
		var at []int
		for _, n := range []int{10, 1, 6, 1, 6, 1, 20} {
			at = append(at, h.take(n))
		}
		require.Equal(t, []int{0, 10, 11, 17, 18, 24, 25}, at)
		h.give(0, 10)
		h.give(11, 6)
		h.give(18, 6)
		h.give(25, 20)
		return h
	}
	for n, want := range map[int]int{1: 11, 5: 11, 6: 11, 7: 0, 10: 0, 11: 25, 20: 25} {
		h := free()
		require.Equal(t, want, h.take(n), "%d bytes", n)
		require.Equal(t, 45, h.top)
	}
	h := free()
	require.Equal(t, 25, h.take(21), "the gap at the end grows")
	require.Equal(t, 46, h.top)

	h = &heap{}
	h.give(h.take(4), 4)
	require.Equal(t, 0, h.take(5), "the only gap grows")
	require.Equal(t, 5, h.top)
}

func TestAlignRoundsUpToRows(t *testing.T) {
	const row = ane.RowAlign
	for n, want := range map[int]int{0: 0, 1: row, row - 1: row, row: row, row + 1: 2 * row} {
		require.Equal(t, want, align(n), "%d", n)
	}
}

// each is an elementwise runner.
type each struct{ run.Runner }

func (each) Element() int { return 1 }

// roomy is a kernel whose elementwise runner needs some float32s of workspace.
func roomy(work int) Step {
	return Step{kernel: func(*kernels.Step) (run.Runner, int) { return each{}, work }, Joined: true}
}

// TestWorkspacesWithinTheBound: the workspaces of all workers and the intermediate values together have maxScratch
// bytes at most. The workspace of a joined step begins behind that of the first of its group.
func TestWorkspacesWithinTheBound(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const row, half = ane.RowAlign, maxScratch / 2
	for name, c := range map[string]struct {
		scratch int
		works   []int // float32s of each step of a group
		want    int   // bytes of the workspace of a worker
		need    int   // bytes that are too many; 0 if they fit
	}{
		"little":               {row, []int{1}, row, 0},
		"rows":                 {row, []int{row / 4, row/4 + 1}, 3 * row, 0},
		"the largest":          {row, []int{1, row, 1}, align(4 * (row + 1)), 0},
		"all":                  {0, []int{half / 4}, half, 0},
		"all with values":      {2 * row, []int{(half - row) / 4}, half - row, 0},
		"too much with values": {2 * row, []int{(half-row)/4 + 1}, 0, maxScratch + 2*row},
		"too much":             {0, []int{half/4 + 1}, 0, 2 * maxScratch},
		"twice too much":       {0, []int{maxScratch / 4}, 0, 2 * maxScratch},
		"far too much":         {0, []int{math.MaxInt / 2}, 0, 2 * maxScratch},
		"all of a group":       {0, []int{row, half/4 - row}, half, 0},
		"too much of a group":  {0, []int{row, half/4 - row + 1}, 0, 2 * maxScratch},
	} {
		p := &planner{}
		p.Workers, p.Scratch = 2, c.scratch
		for _, n := range c.works {
			p.Steps = append(p.Steps, roomy(n))
		}
		p.Steps[0].Joined = false
		err := p.prepare(t.Context(), nil)
		if c.need != 0 {
			require.ErrorContains(t, err, fmt.Sprintf("need %d bytes", c.need), name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.want, p.Work, name)
	}
}

// TestHeapMergesGaps frees four ranges in every order: gaps stay sorted and apart, and have the bytes that are free.
func TestHeapMergesGaps(t *testing.T) {
	sizes := []int{3, 5, 7, 11}
	var orders func(rest, order []int)
	orders = func(rest, order []int) {
		for i, k := range rest {
			orders(slices.Delete(slices.Clone(rest), i, i+1), append(slices.Clone(order), k))
		}
		if len(rest) > 0 {
			return
		}
		h, at, freed := &heap{}, []int{}, make([]bool, 26)
		for _, n := range sizes {
			at = append(at, h.take(n))
		}
		for _, k := range order {
			h.give(at[k], sizes[k])
			for i := range sizes[k] {
				freed[at[k]+i] = true
			}
			var want []gap
			for i, free := range freed {
				switch {
				case free && (i == 0 || !freed[i-1]):
					want = append(want, gap{i, 1})
				case free:
					want[len(want)-1].bytes++
				}
			}
			require.Equal(t, want, h.gaps, "%v", order)
		}
	}
	orders([]int{0, 1, 2, 3}, nil)
}
