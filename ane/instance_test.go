package ane_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/faulty"
)

func TestWithWeightsNeedsAnEngineThatMakesInstances(t *testing.T) {
	m := model(t, adder(t))
	_, err := m.WithWeights(t.Context(), ane.Files{})
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorContains(t, err, "compile the program with these weights")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = m.WithWeights(over, nil)
	require.ErrorIs(t, err, ane.ErrDeadline)
	_, err = (*ane.Model)(nil).WithWeights(t.Context(), nil)
	require.ErrorIs(t, err, ane.ErrClosed)

	d, err := ane.Open(faulty.Wrap(adder(t), faulty.Fault{}), "")
	require.NoError(t, err)
	wrapped, err := d.Compile(t.Context(), anySource)
	require.NoError(t, err)
	_, err = wrapped.WithWeights(t.Context(), nil)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.NoError(t, wrapped.Close(t.Context()))
	_, err = wrapped.WithWeights(t.Context(), nil)
	require.ErrorIs(t, err, ane.ErrClosed)
	require.NoError(t, d.Close(), "a refused instance is not counted")
}
