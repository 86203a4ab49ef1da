package apple

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	wait "github.com/anekit/anekit/internal/await"
)

// allReturned waits until this process has no abandoned call: one counts until its goroutine ends, shortly after the
// caller has its result.
func allReturned(t *testing.T) {
	t.Helper()
	wait.Until(t, "no abandoned call", func() bool { return AbandonedCalls() == 0 })
}

// over returns a context that has ended.
func over() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestAwaitReturnsWhatTheCallReturns(t *testing.T) {
	boom := errors.New("boom")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, ctx := range []context.Context{context.Background(), ctx} {
		for _, want := range []error{nil, boom} {
			var s abandonedCalls
			out, err := await(ctx, "load", "x", &s, func() error { return want },
				func(error) { t.Error("the call was not abandoned") })
			require.False(t, out)
			require.Equal(t, want, err)
			require.Zero(t, s.count.Load())
		}
	}
	out, err := await(over(), "load", "x", &abandonedCalls{}, func() error { t.Error("called"); return nil }, nil)
	require.False(t, out)
	require.ErrorIs(t, err, ane.ErrDeadline)
}

func TestAbandonedCallKeepsProgram(t *testing.T) {
	ended := make(chan struct{})
	s := abandonedCalls{release: func() { close(ended) }}
	gate, late := make(chan struct{}), make(chan error, 1)
	boom := errors.New("boom")
	ctx, expire := wait.Deadline(t.Context())
	out, err := await(ctx, "load", "x", &s, func() error { expire(); <-gate; return boom },
		func(err error) { late <- err })
	require.True(t, out)
	require.ErrorIs(t, err, ane.ErrDeadline)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	err = s.wait(over(), "load", "x")
	require.ErrorIs(t, err, ane.ErrStuck)
	require.ErrorIs(t, err, ane.ErrDeadline)
	require.False(t, s.close(), "the call is in flight")
	select {
	case <-ended:
		t.Fatal("released during a call")
	default:
	}
	close(gate)
	require.Equal(t, boom, <-late)
	<-ended
	require.NoError(t, s.wait(t.Context(), "load", "x"))
	allReturned(t)
}

func TestAbandonedCallsAreBounded(t *testing.T) {
	allReturned(t)
	gate := make(chan struct{})
	var s abandonedCalls
	for range maxAbandoned {
		ctx, cancel := context.WithCancel(t.Context())
		out, err := await(ctx, "load", "x", &s, func() error { cancel(); <-gate; return nil }, func(error) {})
		require.True(t, out)
		require.ErrorIs(t, err, context.Canceled)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := await(ctx, "load", "x", &s, func() error { t.Error("called"); return nil }, nil)
	require.ErrorIs(t, err, ane.ErrExhausted)
	close(gate)
	require.NoError(t, s.wait(t.Context(), "load", "x"))
	_, err = await(ctx, "load", "x", &s, func() error { return nil }, nil)
	require.NoError(t, err)
}
