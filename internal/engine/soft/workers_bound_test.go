package soft

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// counting notes the greatest worker that had a piece.
type counting struct{ most *atomic.Int64 }

func (r counting) Run(c *run.Call) { c.Spread(1<<20, 1) }

func (r counting) Span(_ *run.Call, _, _, worker int) {
	for {
		old := r.most.Load()
		if int64(worker) < old || r.most.CompareAndSwap(old, int64(worker)+1) {
			return
		}
	}
}

func TestBoundOfWorkers(t *testing.T) {
	before := runtime.GOMAXPROCS(6)
	defer runtime.GOMAXPROCS(before)
	for bound, want := range map[int]int{0: 6, 1: 1, 2: 2, 100: 6} {
		e, _ := New().(*engine)
		if bound > 0 {
			e, _ = New(Workers(bound)).(*engine)
		}
		x, err := e.Compile(context.Background(), ane.Source{Text: []byte(folds)})
		require.NoError(t, err)
		own, _ := x.(*executable)
		var most atomic.Int64
		c := &run.Call{Run: counting{&most}, Ctx: context.Background(), Workers: run.Parallel(own.plan.Workers)}
		c.Run.Run(c)
		require.EqualValues(t, want, most.Load(), "bound %d", bound)
	}
}
