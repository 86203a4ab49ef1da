package ane_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/faulty"
)

func TestQoSNeedsAnEngineThatHasOne(t *testing.T) {
	f := adder(t)
	enter, leave := make(chan struct{}), make(chan struct{})
	f.evaluate = func(context.Context) error { close(enter); <-leave; return nil }
	r, err := model(t, f).NewRequest(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, r.SetQoS(ane.QoSBackground), errors.ErrUnsupported)
	require.ErrorIs(t, r.SetQoS(3), ane.ErrName)
	c := r.EvaluateAsync(t.Context())
	<-enter
	require.ErrorIs(t, r.SetQoS(ane.QoSDefault), ane.ErrBusy)
	close(leave)
	o := <-c
	require.NoError(t, o.Err)
	require.Zero(t, o.Result.QoS)
	require.NoError(t, r.Close())
	require.ErrorIs(t, r.SetQoS(ane.QoSDefault), ane.ErrClosed)
	require.ErrorIs(t, (*ane.Request)(nil).SetQoS(ane.QoSDefault), ane.ErrClosed)
}

func TestPurgeAndCountersNeedABroker(t *testing.T) {
	for _, e := range []ane.Engine{adder(t), faulty.Wrap(adder(t), faulty.Fault{})} {
		d, err := ane.Open(e, "")
		require.NoError(t, err)
		_, _, err = d.Purge(t.Context())
		require.ErrorIs(t, err, errors.ErrUnsupported)
		_, err = d.Counters(t.Context())
		require.ErrorIs(t, err, errors.ErrUnsupported)
		require.NoError(t, d.Close())
		_, _, err = d.Purge(t.Context())
		require.ErrorIs(t, err, ane.ErrClosed)
	}
	_, err := (*ane.Device)(nil).Counters(t.Context())
	require.ErrorIs(t, err, ane.ErrClosed)
}
