package hal_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/hal"
)

// abandoning is an engine that abandons each run whose ctx ends: the Invocation of such a run stays busy.
type abandoning struct {
	ane.Engine
	started  chan struct{} // the first evaluation
	refusals atomic.Int64  // of Unload
}

func (a *abandoning) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	x, err := a.Engine.Compile(ctx, src)
	return &abandoned{x, a}, err
}

type abandoned struct {
	ane.Executable
	engine *abandoning
}

func (x *abandoned) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	v, err := x.Executable.Prepare(in, out)
	return &busy{Invocation: v, engine: x.engine}, err
}

type busy struct {
	ane.Invocation
	engine  *abandoning
	forGood atomic.Bool
}

func (b *busy) Evaluate(ctx context.Context) error {
	if b.forGood.Load() {
		return &ane.Error{Op: "evaluate", Err: ane.ErrBusy}
	}
	select {
	case b.engine.started <- struct{}{}:
		<-ctx.Done()
		b.forGood.Store(true)
		return ane.Deadline("evaluate", "test", ctx.Err())
	default:
		return b.Invocation.Evaluate(ctx)
	}
}

// A command buffer runs again after a run that its context stopped, also where the engine has abandoned that one.
func TestReuseAfterAnAbandonedRun(t *testing.T) {
	first := make(chan struct{}, 1)
	e, err := engine.Open(t.Context(), engine.Soft, engine.Wrap(func(e ane.Engine) ane.Engine {
		return &abandoning{Engine: e, started: first}
	}))
	require.NoError(t, err)
	d := deviceOn(t, e)
	scale := prepare(t, d, scaleText(2))
	x, y := newBuffer(t, d, 64), newBuffer(t, d, 64)
	c := record(t, d, hal.Reusable, func(c *hal.CommandBuffer) {
		c.Dispatch(scale, map[string]hal.Range{"x": x.Range(0, 64)}, map[string]hal.Range{"y": y.Range(0, 64)})
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := hal.NewSemaphore(0)
	require.NoError(t, d.Queue().Execute(ctx, nil, []hal.Point{{s, 1}}, c))
	<-first
	first <- struct{}{} // stays full
	cancel()
	require.ErrorIs(t, wait(t, s, 1), context.Canceled)
	copy(x.Bytes(), halves(3))
	require.NoError(t, run(t, d, c))
	require.Equal(t, halves(6), y.Bytes())
}

// Unload refuses as long as a run is in flight, as the broker does.
func (x *abandoned) Unload(ctx context.Context) error {
	if x.engine.refusals.Add(-1) >= 0 {
		return &ane.Error{Op: "unload", Err: ane.ErrBusy}
	}
	return x.Executable.Unload(ctx)
}

// Close waits for a run that the engine has abandoned, until its own ctx ends.
func TestCloseWaitsForAnAbandonedRun(t *testing.T) {
	a := &abandoning{started: make(chan struct{})}
	e, err := engine.Open(t.Context(), engine.Soft, engine.Wrap(func(e ane.Engine) ane.Engine {
		a.Engine = e
		return a
	}))
	require.NoError(t, err)
	d := deviceOn(t, e, hal.CacheLimit(0))
	x := prepare(t, d, scaleText(2))
	a.refusals.Store(1 << 30)
	require.ErrorIs(t, x.Close(ended()), ane.ErrBusy)
	require.ErrorIs(t, d.Close(ended()), ane.ErrBusy)
	a.refusals.Store(3)
	require.NoError(t, d.Close(t.Context()))
	require.Less(t, a.refusals.Load(), int64(0))
	require.NoError(t, e.Close())
}
