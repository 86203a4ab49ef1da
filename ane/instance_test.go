package ane_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/internal/engine/faulty"
	"github.com/anekit/anekit/internal/engine/soft"
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

// Weights without a file of the program are refused, whatever the engine makes of them.
func TestWithWeightsThatReplaceNothing(t *testing.T) {
	d, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	program := func(files ...string) (*ane.Model, ane.Files) {
		b := build.New(build.FilePerWeight())
		f := b.Func("main")
		y := f.Mul(f.Input("x", build.FP16, 1, 32), f.Scalar(2))
		for _, name := range files {
			y = f.Mul(y, f.Weight(name, []float32{3}, 1, 1))
		}
		f.Output("y", y)
		p, err := b.Program()
		require.NoError(t, err)
		m, err := d.Compile(t.Context(), ane.Source{Program: p})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, m.Close(context.Background())) })
		all := ane.Files{}
		for path := range p.Weights {
			all[path], err = p.ReadFile(path)
			require.NoError(t, err)
		}
		return m, all
	}
	const gain, shift = "@model_path/weights/gain.bin", "@model_path/weights/shift.bin"
	m, files := program("gain", "shift")
	const none = "no such name: the weights have no file that the program reads; "
	const reads = "it reads " + gain + ", " + shift
	for _, c := range []struct {
		w    ane.Weights
		want string
	}{
		{nil, none + reads},
		{ane.Files{}, none + reads},
		{struct{ ane.Weights }{ane.Files{}}, none + reads},
		{constants{}, none + reads},
		{ane.Files{"other": nil}, "other: " + none + reads},
		{ane.Files{"shift.bin": files[shift]}, "shift.bin: " + none + "did you mean " + shift + "? " + reads},
		{ane.Files{"a": nil, "@model_path/weights/gian.bin": files[gain]}, "@model_path/weights/gian.bin: " + none +
			"did you mean " + gain + "? " + reads},
	} {
		_, err := m.WithWeights(t.Context(), c.w)
		require.ErrorIs(t, err, ane.ErrName)
		require.EqualError(t, err, "ane: instance on soft: "+c.want)
	}
	for _, w := range []ane.Weights{ane.Files{gain: files[gain]}, struct{ ane.Weights }{ane.Files{shift: files[shift]}},
		constants{gain: {0, 0x3c}}} {
		own, err := m.WithWeights(t.Context(), w)
		require.NoError(t, err, "one file is enough")
		require.NoError(t, own.Close(t.Context()))
	}

	m, _ = program("a", "b", "c", "d", "e", "f", "g", "h", "i", "j")
	_, err = m.WithWeights(t.Context(), nil)
	require.ErrorContains(t, err, "/h.bin and 2 more")
	m, _ = program()
	_, err = m.WithWeights(t.Context(), files)
	require.ErrorIs(t, err, ane.ErrName)
	require.EqualError(t, err, "ane: instance on soft: no such name: the program reads no weight file; compile a program "+
		"with other constants")
}

// constants are elements by the path of their file.
type constants map[string][]byte

func (c constants) ReadFile(path string) ([]byte, error) { return ane.Files{}.ReadFile(path) }

func (c constants) Constant(path string, _ uint64, _ mil.Type) ([]byte, error) {
	return ane.Files(c).ReadFile(path)
}

func (c constants) Hold() (release func(), err error) { return func() {}, nil }
