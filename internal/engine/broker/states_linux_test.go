//go:build !macrules

package broker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
)

// The broker shares equal programs, but not those with states: each compiled one counts for itself.
func TestStatesAreOfOneProgram(t *testing.T) {
	b := build.New()
	f := b.Func("main")
	s, x := f.State("s", mil.FP16, 1, 32), f.Input("x", mil.FP16, 1, 32)
	y := f.Add(f.ReadState(s), x)
	f.WriteState(s, y)
	f.Output("y", y)
	p, err := b.Program()
	require.NoError(t, err)
	e, err := Open(t.Context(), Options{})
	require.NoError(t, err)
	d, err := ane.Open(e, "")
	require.NoError(t, err)
	var models []*ane.Model
	var requests []*ane.Request
	for range 2 {
		m, err := d.Compile(t.Context(), ane.Source{File: "counter.mil", Program: p.Program})
		require.NoError(t, err)
		r, err := m.NewRequest(t.Context())
		require.NoError(t, err)
		models, requests = append(models, m), append(requests, r)
	}
	for turn := 1; turn <= 3; turn++ {
		for _, r := range requests {
			require.NoError(t, r.Input("x").Set(2, 0, 31))
			_, err := r.Evaluate(t.Context())
			require.NoError(t, err)
			got, err := r.Output("y").At(0, 31)
			require.NoError(t, err)
			require.Equal(t, float32(2*turn), got)
		}
	}
	for i := range models {
		require.NoError(t, requests[i].Close())
		require.NoError(t, models[i].Close(t.Context()))
	}
	require.NoError(t, d.Close())
}
