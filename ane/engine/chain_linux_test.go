//go:build !macrules

package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/leaktest"
)

// Two requests of one model, the second on the output of the first, run in one submission.
func TestChainThroughTheBroker(t *testing.T) {
	leaktest.SkipEmulated(t)
	d, err := engine.Open(t.Context(), engine.Broker, engine.BrokerPath(""))
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	m, err := d.Compile(t.Context(), ane.Source{Text: text})
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close(t.Context())) }()
	first, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	last, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	middle, err := m.Bind(map[string]*ane.Tensor{"x": first.Output("y")}, map[string]*ane.Tensor{"y": last.Input("x")})
	require.NoError(t, err)
	require.NoError(t, first.Input("x").Set(8, 0, 5, 0, 7))
	_, err = d.EvaluateChain(t.Context(), first, middle, last)
	require.NoError(t, err)
	v, err := last.Output("y").At(0, 5, 0, 7)
	require.NoError(t, err)
	require.Equal(t, float32(1), v)
	for _, r := range []*ane.Request{middle, last, first} {
		require.NoError(t, r.Close())
	}
}
