package ane_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
)

func TestEvaluateAsyncOwnsTheRequestUntilItsOutcome(t *testing.T) {
	f := adder(t)
	enter, leave := make(chan struct{}), make(chan error)
	f.evaluate = func(context.Context) error { enter <- struct{}{}; return <-leave }
	m := model(t, f)
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	for _, want := range []error{nil, errors.New("broken")} {
		c := r.EvaluateAsync(t.Context())
		<-enter
		_, err = r.Evaluate(t.Context())
		require.ErrorIs(t, err, ane.ErrBusy)
		second := <-r.EvaluateAsync(t.Context())
		require.ErrorIs(t, second.Err, ane.ErrBusy)
		require.ErrorIs(t, r.Close(), ane.ErrBusy)
		select {
		case <-c:
			t.Fatal("an Outcome before the run ended")
		default:
		}
		leave <- want
		o := <-c
		require.Equal(t, want, o.Err)
		require.Equal(t, "fake", o.Result.Receipt.Engine)
		_, open := <-c
		require.False(t, open, "one Outcome, then the channel is closed")
	}
	require.NoError(t, r.Close(), "after the Outcome the caller owns the request again")
	require.ErrorIs(t, (<-r.EvaluateAsync(t.Context())).Err, ane.ErrClosed)
	require.ErrorIs(t, (<-(*ane.Request)(nil).EvaluateAsync(t.Context())).Err, ane.ErrClosed)
}

func TestEvaluateAsyncThatCannotStart(t *testing.T) {
	m := model(t, adder(t))
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, (<-r.EvaluateAsync(over)).Err, ane.ErrDeadline)
	require.NoError(t, m.Unload(t.Context()))
	require.ErrorIs(t, (<-r.EvaluateAsync(t.Context())).Err, ane.ErrNotLoaded)
	require.NoError(t, m.Load(t.Context()))
	require.NoError(t, (<-r.EvaluateAsync(t.Context())).Err)
	require.NoError(t, r.Close())
}

// Unload waits for runs in the background.
func TestUnloadWaitsForEvaluateAsync(t *testing.T) {
	f := adder(t)
	enter, leave := make(chan struct{}), make(chan struct{})
	f.evaluate = func(context.Context) error { close(enter); <-leave; return nil }
	m := model(t, f)
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	c := r.EvaluateAsync(t.Context())
	<-enter
	over, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, m.Unload(over), ane.ErrDeadline)
	close(leave)
	require.NoError(t, (<-c).Err)
	require.NoError(t, m.Unload(t.Context()))
	require.NoError(t, r.Close())
}
