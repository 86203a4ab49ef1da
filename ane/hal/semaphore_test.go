package hal_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/internal/await"
)

var errCause = errors.New("cause of the test")

// ended returns a context that has ended.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestSemaphoreValues(t *testing.T) {
	s := hal.NewSemaphore(5)
	v, err := s.Value()
	require.NoError(t, err)
	require.EqualValues(t, 5, v)
	require.NoError(t, s.Signal(5), "at the value")
	require.NoError(t, s.Signal(7))
	require.ErrorIs(t, s.Signal(6), hal.ErrBackwards)
	v, err = s.Value()
	require.NoError(t, err, "a refused Signal changes nothing")
	require.EqualValues(t, 7, v)
	require.NoError(t, s.Signal(math.MaxUint64))
	require.NoError(t, s.Wait(ended(), math.MaxUint64), "reached, although ctx has ended")
}

func TestSemaphoreFailure(t *testing.T) {
	s := hal.NewSemaphore(2)
	s.Fail(errCause)
	s.Fail(errors.New("a later one"))
	for name, err := range map[string]error{
		"Signal": s.Signal(3), "Signal at the value": s.Signal(2), "Signal below": s.Signal(1),
		"Wait": s.Wait(context.Background(), 3), "Wait with an ended ctx": s.Wait(ended(), 3),
	} {
		require.ErrorIs(t, err, hal.ErrFailed, name)
		require.ErrorIs(t, err, errCause, name)
		require.NotContains(t, err.Error(), "a later one", name)
	}
	v, err := s.Value()
	require.EqualValues(t, 2, v)
	require.ErrorIs(t, err, errCause)
	require.NoError(t, s.Wait(ended(), 2), "reached before the failure")
	s = hal.NewSemaphore(0)
	s.Fail(nil)
	require.ErrorIs(t, s.Signal(1), hal.ErrFailed)
}

func TestSemaphoreOfNoMaker(t *testing.T) {
	for _, s := range []*hal.Semaphore{nil, {}} {
		_, err := s.Value()
		require.ErrorIs(t, err, hal.ErrClosed)
		require.ErrorIs(t, err, ane.ErrClosed)
		require.ErrorIs(t, s.Signal(1), hal.ErrClosed)
		require.ErrorIs(t, s.Wait(ended(), 0), hal.ErrClosed)
		s.Fail(errCause)
		got := make(chan error, 1)
		cancel := s.OnReach(0, func(err error) { got <- err })
		require.ErrorIs(t, await.Value(t, got), hal.ErrClosed)
		require.False(t, cancel())
		require.ErrorIs(t, hal.WaitAll(context.Background(), hal.Point{Semaphore: s}), hal.ErrClosed)
		i, err := hal.WaitAny(context.Background(), hal.Point{Semaphore: s})
		require.Zero(t, i)
		require.ErrorIs(t, err, hal.ErrClosed)
	}
	require.False(t, hal.NewSemaphore(0).OnReach(0, nil)())
}

func TestWait(t *testing.T) {
	s := hal.NewSemaphore(0)
	require.ErrorIs(t, s.Wait(ended(), 1), context.Canceled)
	got := make(chan error, 1)
	var none context.Context // nil never ends
	go func() { got <- s.Wait(none, 3) }()
	require.NoError(t, s.Signal(2))
	require.NoError(t, s.Signal(4))
	require.NoError(t, await.Value(t, got))
	go func() { got <- s.Wait(context.Background(), 9) }()
	s.Fail(errCause)
	require.ErrorIs(t, await.Value(t, got), errCause)
	ctx, cancel := context.WithCancel(context.Background())
	u := hal.NewSemaphore(0)
	go func() { got <- u.Wait(ctx, 1) }()
	cancel()
	require.ErrorIs(t, await.Value(t, got), context.Canceled)
}

func TestWaitersAreReleasedInTheOrderOfValues(t *testing.T) {
	s := hal.NewSemaphore(0)
	const n = 200
	var reached [n + 1]atomic.Bool
	var all sync.WaitGroup
	for _, v := range rand.Perm(n) {
		all.Add(1)
		s.OnReach(uint64(v+1), func(err error) {
			defer all.Done()
			have, _ := s.Value()
			reached[v+1].Store(err == nil && have >= uint64(v+1))
		})
	}
	for v := uint64(1); v <= n; v++ {
		require.NoError(t, s.Signal(v))
	}
	all.Wait()
	for v := 1; v <= n; v++ {
		require.True(t, reached[v].Load(), v)
	}
}

func TestOnReach(t *testing.T) {
	s := hal.NewSemaphore(1)
	got := make(chan error, 1)
	f := func(err error) { got <- err }
	require.False(t, s.OnReach(1, f)(), "it has been called")
	require.NoError(t, await.Value(t, got))
	cancel := s.OnReach(2, f)
	require.True(t, cancel())
	require.False(t, cancel(), "the second time")
	cancel = s.OnReach(3, f)
	require.NoError(t, s.Signal(3))
	require.NoError(t, await.Value(t, got))
	require.False(t, cancel())
	s.OnReach(4, func(err error) { // may call the Semaphore
		_, _ = s.Value()
		s.Fail(errors.New("again"))
		got <- err
	})
	s.Fail(errCause)
	require.ErrorIs(t, await.Value(t, got), errCause)
	require.Empty(t, got, "each function runs once")
}

func TestWaitAll(t *testing.T) {
	a, b := hal.NewSemaphore(0), hal.NewSemaphore(0)
	points := []hal.Point{{a, 1}, {b, 2}, {a, 1}}
	require.NoError(t, hal.WaitAll(ended()))
	require.ErrorIs(t, hal.WaitAll(ended(), points...), context.Canceled)
	got := make(chan error, 1)
	go func() { got <- hal.WaitAll(context.Background(), points...) }()
	require.NoError(t, b.Signal(1))
	require.NoError(t, a.Signal(1))
	require.NoError(t, b.Signal(2))
	require.NoError(t, await.Value(t, got))
	require.NoError(t, hal.WaitAll(ended(), points...), "reached, although ctx has ended")
	go func() { got <- hal.WaitAll(context.Background(), hal.Point{a, 5}, hal.Point{b, 5}) }()
	b.Fail(errCause)
	require.ErrorIs(t, await.Value(t, got), errCause, "the other point is still pending")
	require.ErrorIs(t, hal.WaitAll(ended(), hal.Point{a, 5}, hal.Point{b, 5}), errCause)
}

func TestWaitAny(t *testing.T) {
	a, b := hal.NewSemaphore(0), hal.NewSemaphore(0)
	i, err := hal.WaitAny(ended())
	require.Equal(t, -1, i)
	require.NoError(t, err)
	points := []hal.Point{{a, 1}, {b, 1}}
	i, err = hal.WaitAny(ended(), points...)
	require.Equal(t, -1, i)
	require.ErrorIs(t, err, context.Canceled)
	type answer struct {
		i   int
		err error
	}
	got := make(chan answer, 1)
	go func() { i, err := hal.WaitAny(context.Background(), points...); got <- answer{i, err} }()
	require.NoError(t, b.Signal(1))
	require.Equal(t, answer{1, nil}, await.Value(t, got))
	a.Fail(errCause)
	i, err = hal.WaitAny(ended(), points...)
	require.Zero(t, i)
	require.ErrorIs(t, err, errCause)
}

// TestSemaphoreRaces: many goroutines wait, signal, cancel and fail. Every wait ends, and with
// what the Semaphore says.
func TestSemaphoreRaces(t *testing.T) {
	for range 200 {
		s, u := hal.NewSemaphore(0), hal.NewSemaphore(0)
		const top = 40
		var all sync.WaitGroup
		var called, cancelled atomic.Int64
		for range 4 {
			all.Go(func() {
				for v := uint64(1); v <= top; v++ {
					err := s.Signal(v)
					if err != nil && !errors.Is(err, hal.ErrBackwards) {
						t.Error(err)
					}
				}
			})
		}
		for g := range 4 {
			all.Go(func() {
				for v := uint64(1); v <= top; v++ {
					switch g {
					case 0:
						if err := s.Wait(context.Background(), v); err != nil {
							t.Error(err)
						}
					case 1:
						if s.OnReach(v, func(error) { called.Add(1) })() {
							cancelled.Add(1)
						}
					case 2:
						if err := hal.WaitAll(context.Background(), hal.Point{s, v}, hal.Point{s, top}); err != nil {
							t.Error(err)
						}
					case 3:
						i, err := hal.WaitAny(context.Background(), hal.Point{u, v}, hal.Point{s, v})
						if i == 0 && !errors.Is(err, errCause) || i == 1 && err != nil || i < 0 {
							t.Error(i, err)
						}
					}
				}
				if g == 0 {
					u.Fail(errCause)
				}
			})
		}
		all.Wait()
		await.Until(t, "every function is called or cancelled",
			func() bool { return called.Load()+cancelled.Load() == top })
	}
}
