package ops_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// mil.Convert, which cannot read the table, moves functions to the opset that the table has for their operators.
func TestSince(t *testing.T) {
	for _, name := range ops.Names() {
		d := ops.Lookup(name)
		if d == nil {
			continue
		}
		p := &mil.Program{Version: "1.3", Funcs: []*mil.Function{{Name: "main", Opset: "ios18",
			Params: []mil.Var{mil.V(mil.TensorOf(mil.FP16, 1), "x")}, Results: []mil.Ref{{Name: "y"}},
			Body: []*mil.Op{{Kind: name, Args: []mil.Arg{{Name: "x", Value: mil.Ref{Name: "x"}},
				{Name: "shape", Value: mil.Int32s(1)}}, Results: []mil.Var{mil.V(mil.TensorOf(mil.FP16, 1), "y")}}}}}}
		old, err := mil.Convert(p, mil.OldText)
		if d.Since >= 18 {
			require.ErrorContains(t, err, name+" is an operator of ios18")
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, fmt.Sprintf("ios%d", d.Since), old.Funcs[0].Opset, name)
	}
}

// Each row says what it costs and of which kind it is; a default has the type of its kind.
func TestRows(t *testing.T) {
	types := map[ops.Kind]string{ops.Int: "int", ops.Ints: "int", ops.Bool: "bool", ops.Bools: "bool",
		ops.Number: "float64", ops.Word: "string", ops.Element: "float64"}
	for _, name := range ops.Names() {
		d := ops.Lookup(name)
		if d == nil {
			continue
		}
		require.NotZero(t, d.Family, name)
		require.NotZero(t, d.Cost, name)
		for _, p := range d.Params {
			if p.Default != nil && p.Default != ops.AllAxes {
				require.Equal(t, types[p.Kind], fmt.Sprintf("%T", p.Default), "%s: %s", name, p.Name)
			}
			if p.Kind == ops.Word && p.Default != nil {
				require.Contains(t, p.Choices, p.Default, "%s: %s", name, p.Name)
			}
		}
	}
}
