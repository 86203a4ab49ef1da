package metal

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/ane/hal/internal/joint"
	"github.com/anekit/anekit/internal/await"
	gpu "github.com/anekit/anekit/unimem/metal"
)

// notGPU is a GPU that is not one: work ends when a test says so.
type notGPU struct {
	mu     sync.Mutex
	begun  []*notWork
	refuse error
}

type notWork struct {
	dispatches int
	done       chan struct{}
	err        error
}

func (g *notGPU) begin(dispatches []gpu.Command) (end func() error, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.refuse != nil {
		return nil, g.refuse
	}
	w := &notWork{dispatches: len(dispatches), done: make(chan struct{})}
	g.begun = append(g.begun, w)
	return func() error {
		<-w.done
		return w.err
	}, nil
}

func (w *notWork) end(err error) {
	w.err = err
	close(w.done)
}

// next waits for the work of a number.
func (g *notGPU) next(t *testing.T, n int) (w *notWork) {
	await.Until(t, "the GPU has the work", func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		if len(g.begun) > n {
			w = g.begun[n]
		}
		return w != nil
	})
	return w
}

func at(s *hal.Semaphore, v uint64) []hal.Point { return []hal.Point{{Semaphore: s, Value: v}} }

func closed(t *testing.T, q *Queue) {
	t.Cleanup(func() { require.NoError(t, q.Close(context.Background())) })
}

func TestWorkStartsWithItsWaitsAndThenSignals(t *testing.T) {
	g := &notGPU{}
	q := &Queue{queue: joint.NewQueue("test", g.begin)}
	closed(t, q)
	s := hal.NewSemaphore(0)
	require.NoError(t, q.Execute(t.Context(), at(s, 2), at(s, 3), gpu.Dispatch{}, gpu.Dispatch{}))
	require.NoError(t, q.Execute(t.Context(), at(s, 1), at(s, 2), gpu.Dispatch{}))
	require.NoError(t, s.Signal(1))
	first := g.next(t, 0)
	require.Equal(t, 1, first.dispatches, "the one whose wait is reached")
	v, err := s.Value()
	require.NoError(t, err)
	require.EqualValues(t, 1, v, "nothing is signaled before the GPU has ended")
	first.end(nil)
	require.NoError(t, s.Wait(t.Context(), 2))
	second := g.next(t, 1)
	require.Equal(t, 2, second.dispatches)
	second.end(nil)
	require.NoError(t, s.Wait(t.Context(), 3))
	require.NoError(t, q.Execute(t.Context(), at(s, 3), at(s, 4)), "passes the waits on")
	require.NoError(t, s.Wait(t.Context(), 4))
	require.Len(t, g.begun, 2)
}

func TestFailuresReachTheSignals(t *testing.T) {
	g := &notGPU{}
	q := &Queue{queue: joint.NewQueue("test", g.begin)}
	closed(t, q)
	cause := errors.New("the engine has stopped")
	wait, signal := hal.NewSemaphore(0), hal.NewSemaphore(0)
	require.NoError(t, q.Execute(t.Context(), at(wait, 1), at(signal, 1), gpu.Dispatch{}))
	wait.Fail(cause)
	require.ErrorIs(t, signal.Wait(t.Context(), 1), cause)
	require.Empty(t, g.begun, "a failed wait starts nothing")

	signal = hal.NewSemaphore(0)
	require.NoError(t, q.Execute(t.Context(), nil, at(signal, 1), gpu.Dispatch{}))
	g.next(t, 0).end(gpu.ErrLost)
	require.ErrorIs(t, signal.Wait(t.Context(), 1), gpu.ErrLost)

	signal, g.refuse = hal.NewSemaphore(0), gpu.ErrRange
	require.NoError(t, q.Execute(t.Context(), nil, at(signal, 1), gpu.Dispatch{}))
	require.ErrorIs(t, signal.Wait(t.Context(), 1), gpu.ErrRange)

	high, low := hal.NewSemaphore(9), hal.NewSemaphore(0)
	require.NoError(t, q.Execute(t.Context(), nil, append(at(high, 3), at(low, 1)...)))
	require.NoError(t, low.Wait(t.Context(), 1))
	require.ErrorIs(t, high.Wait(t.Context(), 10), hal.ErrBackwards, "a signal backwards fails its semaphore")
	require.ErrorIs(t, q.Execute(t.Context(), []hal.Point{{}}, nil), hal.ErrClosed)
}

func TestContextEndsBeforeTheGPU(t *testing.T) {
	g := &notGPU{}
	q := &Queue{queue: joint.NewQueue("test", g.begin)}
	signal := hal.NewSemaphore(0)
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, q.Execute(ctx, nil, at(signal, 1), gpu.Dispatch{}))
	w := g.next(t, 0)
	cancel()
	require.ErrorIs(t, signal.Wait(t.Context(), 1), context.Canceled)
	never := hal.NewSemaphore(0)
	waiting := hal.NewSemaphore(0)
	require.NoError(t, q.Execute(t.Context(), at(never, 1), at(waiting, 1), gpu.Dispatch{}))
	require.ErrorIs(t, q.Close(ctx), context.Canceled, "the GPU has not ended")
	require.ErrorIs(t, waiting.Wait(t.Context(), 1), ErrClosed)
	require.ErrorIs(t, q.Execute(t.Context(), nil, nil), hal.ErrClosed)
	w.end(nil)
	require.NoError(t, q.Close(t.Context()))
	require.NoError(t, q.Close(t.Context()))
	for _, none := range []*Queue{nil, {}} {
		require.ErrorIs(t, none.Execute(t.Context(), nil, nil), ErrClosed)
		require.NoError(t, none.Close(t.Context()))
	}
}

func TestJoinWithoutAGPU(t *testing.T) {
	_, err := Join(nil, hal.NewSemaphore(0))
	require.ErrorIs(t, err, gpu.ErrClosed)
	failed := hal.NewSemaphore(0)
	failed.Fail(errors.New("x"))
	_, err = Join(nil, failed)
	require.ErrorIs(t, err, hal.ErrFailed)
	var none *Pair
	require.NoError(t, none.Close())
	require.Nil(t, none.Event())
	q := NewQueue(nil)
	closed(t, q)
	signal := hal.NewSemaphore(0)
	require.NoError(t, q.Execute(t.Context(), nil, at(signal, 1), gpu.Dispatch{}))
	require.ErrorIs(t, signal.Wait(t.Context(), 1), gpu.ErrClosed)
}
