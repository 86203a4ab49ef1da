package ane_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/internal/engine/soft"
)

func TestReceipt(t *testing.T) {
	f := adder(t)
	d, err := ane.Open(f, "no such hardware")
	require.NoError(t, err)
	want := ane.Receipt{Engine: "fake", Chip: "none", OSBuild: "any", Numerics: "none", Sharing: "none",
		Fallback: "no such hardware"}
	require.Equal(t, want, d.Receipt())
	m, err := d.Compile(background, anySource)
	require.NoError(t, err)
	want.Cached, want.Notes = true, []string{"remark"}
	require.Equal(t, want, m.Receipt())
	require.Equal(t, f.Info(), d.Info())
	require.NoError(t, m.Close(background))
	require.NoError(t, d.Close())

	_, err = ane.Open(nil, "")
	require.ErrorIs(t, err, ane.ErrUnavailable)
}

// A Receipt has the notes of a built program, each once, with the operators of both functions counted apart.
func TestReceiptHasOneNoteForSeveralOperators(t *testing.T) {
	b := build.New()
	for _, name := range []string{"main", "other"} {
		f := b.Func(name)
		f.Output("y", f.Relu(f.Relu(f.Relu(f.Input("x", build.FP32, 2, 32)))))
	}
	p, err := b.Program()
	require.NoError(t, err)
	require.Len(t, p.Notes, 2)
	require.Contains(t, p.Notes[0], ": relu, and 2 more operators: fp32 arithmetic: ")
	d, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	m, err := d.Compile(background, ane.Source{Program: p})
	require.NoError(t, err)
	require.Equal(t, p.Notes, m.Receipt().Notes)
	require.NoError(t, m.Close(background))
	require.NoError(t, d.Close())
}

// A Receipt has the notes of a built program, each once.
func TestReceiptHasTheNotesOfABuiltProgram(t *testing.T) {
	b := build.New()
	f := b.Func("main")
	y := f.Mul(f.Input("x", build.FP16, 2, 32), f.Scalar(70000))
	f.Output("y", f.Mul(y, f.Weight("w", []float32{1e9, 1}, 2, 1)))
	p, err := b.Program()
	require.NoError(t, err)
	require.Len(t, p.Notes, 2)
	d, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	for _, src := range []ane.Source{{Program: p}, {File: "x.mil", Program: p}} {
		m, err := d.Compile(background, src)
		require.NoError(t, err)
		require.Equal(t, p.Notes, m.Receipt().Notes)
		require.NoError(t, m.Close(background))
	}
	for _, src := range []ane.Source{{File: "x.mil", Program: p.Program, Weights: p}, {Text: p.Text(), Weights: p}} {
		m, err := d.Compile(background, src)
		require.NoError(t, err)
		require.Len(t, m.Receipt().Notes, 1, "the engine's own")
		require.NoError(t, m.Close(background))
	}
	require.NoError(t, d.Close())

	other, err := ane.Open(adder(t), "")
	require.NoError(t, err)
	m, err := other.Compile(background, ane.Source{Program: p})
	require.NoError(t, err)
	require.Equal(t, append(slices.Clone(p.Notes), "remark"), m.Receipt().Notes)
	require.NoError(t, m.Close(background))
	_, err = other.Compile(background, ane.Source{Program: (*build.Program)(nil)})
	require.ErrorIs(t, err, ane.ErrCompile)
	require.NoError(t, other.Close())
}

// Compile refuses an impossible layout of an engine and closes the Executable.
func TestImpossiblePrograms(t *testing.T) {
	f := adder(t)
	d := device(t, f)
	f.in[0].RowStride = 2
	_, err := d.Compile(background, anySource)
	require.ErrorIs(t, err, ane.ErrShape)
	require.Zero(t, f.running.Load())
	f.in, f.out = nil, nil
	_, err = d.Compile(background, anySource)
	require.ErrorIs(t, err, ane.ErrCompile)
	require.Zero(t, f.running.Load())
}

func TestInputsOfAnUnknownName(t *testing.T) {
	f := &fake{out: []ane.Layout{newLayout(t, "y", mil.FP16, 4)}}
	m := model(t, f)
	require.Empty(t, m.Inputs())
	_, err := m.Evaluate(background, request(t, m))
	require.NoError(t, err)
}

func TestErrorText(t *testing.T) {
	e := &ane.Error{Op: "bind", Engine: "soft", Name: "x", Detail: "3 of 4", Rule: "rule", Hint: "do this",
		Domain: "domain", Code: 21, Err: ane.ErrShort}
	require.Equal(t, "ane: bind on soft: x: surface too short: 3 of 4 (domain 21) [rule]; do this", e.Error())
	require.Equal(t, "ane: close", (&ane.Error{Op: "close"}).Error())
	d := ane.Deadline("load", "soft", context.DeadlineExceeded)
	require.ErrorIs(t, d, ane.ErrDeadline)
	require.ErrorIs(t, d, context.DeadlineExceeded)
	require.False(t, errors.Is(d, context.Canceled))
	require.Equal(t, "ane: load on soft: ended by its context: context deadline exceeded", d.Error())
}
