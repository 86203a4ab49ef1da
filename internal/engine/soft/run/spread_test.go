package run

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// visits is a runner that records its pieces.
type visits struct {
	mu    sync.Mutex
	spans [][2]int
}

func (*visits) Run(*Call) {}

func (v *visits) Span(_ *Call, lo, hi, _ int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.spans = append(v.spans, [2]int{lo, hi})
}

// The pieces of a fork follow each other and cover everything once.
func TestForksCutIntoPieces(t *testing.T) {
	for _, n := range []int{7, 16, 100} {
		for _, pieces := range []int{2, 3, 5, 7} {
			v := &visits{}
			c := &Call{Run: v}
			c.fork(n, pieces)
			slices.SortFunc(v.spans, func(a, b [2]int) int { return a[0] - b[0] })
			require.Len(t, v.spans, pieces)
			at := 0
			for _, s := range v.spans {
				require.Equal(t, at, s[0], "%d in %d pieces", n, pieces)
				require.Less(t, s[0], s[1])
				at = s[1]
			}
			require.Equal(t, n, at)
		}
	}
}

// A step that uses up the budget runs. One that needs more is declined.
func TestBudgetsAreSpentWhole(t *testing.T) {
	budget := 12
	for _, c := range []struct{ n, cost, left int }{{5, 2, 2}, {2, 1, 0}} {
		v := &visits{}
		call := Call{Run: v, Budget: &budget}
		call.Spread(c.n, c.cost)
		require.False(t, call.Declined)
		require.Equal(t, [][2]int{{0, c.n}}, v.spans)
		require.Equal(t, c.left, budget)
	}
	for _, cost := range []int{1, math.MaxInt} {
		budget = 0
		v := &visits{}
		call := Call{Run: v, Budget: &budget}
		call.Spread(3, cost)
		require.True(t, call.Declined)
		require.Empty(t, v.spans)
	}
}

// TestPiecesOfWork: each piece has the grain of work at least, and no more pieces than workers and items.
func TestPiecesOfWork(t *testing.T) {
	for _, c := range []struct{ n, cost, extra, want int }{
		{4, 1, 0, 1}, {100, grain/50 - 1, 0, 1}, {100, grain / 50, 0, 1}, {2, grain, 0, 2}, {4, grain / 2, 0, 2},
		{4, grain/2 - 1, 1, 2}, {4, grain/2 - 1, 0, 1}, {2, 8 * grain, 0, 2}, {100, grain, 0, 3}, {1, math.MaxInt, 0, 1},
		{7, math.MaxInt, 0, 3}, {0, grain, 0, 1},
	} {
		require.Equal(t, c.want, (&Call{Workers: 3, extra: c.extra}).pieces(c.n, c.cost), "%+v", c)
	}
}
