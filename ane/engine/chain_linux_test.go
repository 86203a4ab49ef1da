//go:build !macrules

package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
)

// Requests of one model run one after another, each on the output of the one before: in the broker in one submission.
func TestChainOnEveryEngine(t *testing.T) {
	for _, name := range engines(t) {
		t.Run(name, func(t *testing.T) { chained(t, name) })
	}
}

func chained(t *testing.T, name string) {
	d, err := engine.Open(t.Context(), name, engine.BrokerPath(""))
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
