package ane_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
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
