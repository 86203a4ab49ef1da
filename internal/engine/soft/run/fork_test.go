package run

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// breaking is a runner that panics in one piece of its work.
type breaking struct {
	worker int
	done   *atomic.Int64
}

var errBreaking = errors.New("broken piece")

func (b breaking) Run(*Call) {}

func (b breaking) Span(_ *Call, lo, hi, worker int) {
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
		c := &Call{Run: breaking{worker, &done}, Ctx: context.Background()}
		func() {
			defer func() {
				v := recover()
				err, ok := v.(error)
				require.True(t, ok, "%v", v)
				require.ErrorIs(t, err, errBreaking)
				if f, ok := v.(*forwarded); ok {
					require.Equal(t, errBreaking.Error(), f.Error())
					require.Contains(t, string(f.Stack()), "breaking.Span")
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
