package ops_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// A program made in Go can have a weight without a path.
func TestSurveyOfWeightWithoutPath(t *testing.T) {
	four := mil.TensorOf(mil.FP16, 4)
	for _, b := range []*mil.Blob{nil, {}, {Path: mil.StringScalar("w.bin")}} {
		w := &mil.Op{Kind: "const", Results: []mil.Var{{Name: "w", Type: four}},
			Attrs: []mil.Arg{{Name: "val", Value: &mil.Value{Type: four, Literal: b}}}}
		f := &mil.Function{Name: "main", Opset: "ios18", Body: []*mil.Op{w}}
		g := ops.Survey("", &mil.Program{Version: "1.3", Funcs: []*mil.Function{f}})
		require.Len(t, g, 1)
	}
}

// An operand of an argument that the operator does not have is used.
func TestSurveyOfUnknownArgument(t *testing.T) {
	p, err := mil.Parse("unknown.mil", []byte("program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [4]> x, tensor<fp16, [4]> k) {\n"+
		"tensor<fp16, [4]> y = relu(x = x, gain = (0.5, k));\n} -> (y);\n}\n"))
	require.NoError(t, err)
	for _, v := range ops.Survey("", p)[0].Inputs {
		require.Len(t, v.Uses, 1, v.Name)
	}
}
