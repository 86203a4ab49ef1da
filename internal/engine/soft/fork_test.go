package soft

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
)

// breaking is a runner that panics in one piece of its work.
type breaking struct {
	worker int
	done   *atomic.Int64
}

var errBreaking = errors.New("broken piece")

func (b breaking) run(*call) {}

func (b breaking) span(_ *call, lo, hi, worker int) {
	defer b.done.Add(1)
	if worker == b.worker {
		panic(errBreaking)
	}
}

// TestPanicOfAPieceIsTheCallers: a panic in any goroutine of a step is one that the caller
// can recover, after all of them have ended.
func TestPanicOfAPieceIsTheCallers(t *testing.T) {
	for worker := range 4 {
		var done atomic.Int64
		c := &call{run: breaking{worker, &done}, ctx: context.Background()}
		func() {
			defer func() {
				v := recover()
				err, ok := v.(error)
				require.True(t, ok, "%v", v)
				require.ErrorIs(t, err, errBreaking)
				if f, ok := v.(*forwarded); ok {
					require.Equal(t, errBreaking.Error(), f.Error())
					require.Contains(t, string(f.Stack()), "breaking.span")
				} else {
					require.Zero(t, worker)
				}
			}()
			c.fork(4, 4)
			t.Error("no panic")
		}()
		require.EqualValues(t, 4, done.Load(), "worker %d", worker)
	}
}

// counting notes the greatest worker that had a piece.
type counting struct{ most *atomic.Int64 }

func (r counting) run(c *call) { c.spread(1<<20, 1) }

func (r counting) span(_ *call, _, _, worker int) {
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
		c := &call{run: counting{&most}, ctx: context.Background(), workers: parallel(own.plan.workers)}
		c.run.run(c)
		require.EqualValues(t, want, most.Load(), "bound %d", bound)
	}
}
