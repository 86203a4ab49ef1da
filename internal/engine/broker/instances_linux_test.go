//go:build !macrules

package broker

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/internal/access"
)

// scaling multiplies by a weight.
func scaling(t *testing.T, by float32) *build.Program {
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", mil.FP16, 1, 1, 1, 32)
	f.Output("y", f.Conv(x, f.Weight("w", []float32{by}, 1, 1, 1, 1)))
	p, err := b.Program()
	require.NoError(t, err)
	return p
}

// An instance of an instance has the files that its own weights lack from the instance, not from the base.
func TestInstancesKeepFiles(t *testing.T) {
	two := func(v, w float32) *build.Program {
		b := build.New(build.FilePerWeight())
		f := b.Func("main")
		x := f.Input("x", mil.FP16, 1, 1, 1, 32)
		y := f.Conv(x, f.Weight("v", []float32{v}, 1, 1, 1, 1))
		f.Output("y", f.Conv(y, f.Weight("w", []float32{w}, 1, 1, 1, 1)))
		p, err := b.Program()
		require.NoError(t, err)
		return p
	}
	only := func(p *build.Program, path string) ane.Weights { return blob.Writers{path: p.Weights[path]} }
	e, err := Open(t.Context(), Options{})
	require.NoError(t, err)
	d, err := ane.Open(e, "")
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	base, err := d.Compile(t.Context(), ane.Source{Program: two(2, 3)})
	require.NoError(t, err)
	first, err := base.WithWeights(t.Context(), only(two(5, 0), "@model_path/weights/v.bin"))
	require.NoError(t, err)
	second, err := first.WithWeights(t.Context(), only(two(0, 7), "@model_path/weights/w.bin"))
	require.NoError(t, err)
	for m, want := range map[*ane.Model]float32{base: 6, first: 15, second: 35} {
		r, err := m.NewRequest(t.Context())
		require.NoError(t, err)
		require.NoError(t, r.Input("x").Set(1, 0, 0, 0, 31))
		_, err = r.Evaluate(t.Context())
		require.NoError(t, err)
		y, err := r.Output("y").At(0, 0, 0, 31)
		require.NoError(t, err)
		require.Equal(t, want, y)
		require.NoError(t, r.Close())
	}
	for _, m := range []*ane.Model{base, first, second} {
		require.NoError(t, m.Close(t.Context()))
	}
}

// An instance outlives its base and the broker that made it.
func TestInstancesAreMadeAgainAtTheNextBroker(t *testing.T) {
	e, err := Open(t.Context(), Options{})
	require.NoError(t, err)
	d, err := ane.Open(e, "")
	require.NoError(t, err)
	two := scaling(t, 2)
	base, err := d.Compile(t.Context(), ane.Source{File: "scale.mil", Program: two.Program, Weights: two.Weights})
	require.NoError(t, err)
	m, err := base.WithWeights(t.Context(), scaling(t, 3).Weights)
	require.NoError(t, err, "the base need not be loaded")
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	run := func() {
		require.NoError(t, r.Input("x").Set(5, 0, 0, 0, 31))
		_, err := r.Evaluate(t.Context())
		require.NoError(t, err)
		y, err := r.Output("y").At(0, 0, 0, 31)
		require.NoError(t, err)
		require.Equal(t, float32(15), y)
	}
	run()
	require.NoError(t, base.Close(t.Context()))
	run()

	for range 3 {
		pid, _ := access.Address(r, access.Input, "x")
		signal(t, pid, unix.SIGKILL)
		ends(t, pid)
		run()
	}
	require.NoError(t, r.Close())
	require.NoError(t, m.Close(t.Context()))
	require.NoError(t, d.Close())
}
