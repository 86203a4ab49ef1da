package ane_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft"
)

// A warm run allocates nothing, at both levels, and so do Get and Put.
func TestWarmRequestsAllocateNothing(t *testing.T) {
	d, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	m, err := d.Compile(t.Context(), ane.Source{Text: []byte(doubling)})
	require.NoError(t, err)
	p, err := m.NewPool(t.Context(), 2)
	require.NoError(t, err)
	ctx := t.Context()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		r, err := p.Get(ctx)
		if err == nil {
			err = r.Input("x").Set(2, 0, 0, 0, 0)
		}
		if err == nil {
			_, err = r.Evaluate(ctx)
		}
		if err == nil {
			err = p.Put(r)
		}
		if err != nil {
			t.Error(err)
		}
	}))
	require.NoError(t, p.Close())
	require.NoError(t, m.Close(ctx))
	require.NoError(t, d.Close())
}
