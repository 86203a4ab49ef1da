package ops_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// A misspelled opset gets a note.
func TestUnknownOpset(t *testing.T) {
	text := strings.Replace(around("tensor<fp16, [2, 3]> y = relu(x = x);", "y"), "ios18", "ios81", 1)
	g, list := analyze(t, text, nil)
	require.Empty(t, list)
	require.Equal(t, []string{"e.mil:3:6: function main: ios81 is no opset that Apple published; did you mean ios18? " +
		"the opsets are ios15, ios16, ios17 and ios18"}, g.Notes)
	for _, known := range []string{"ios13", "ios15", "ios26", "CoreML5"} {
		g, list = analyze(t, strings.Replace(text, "ios81", known, 1), nil)
		require.Empty(t, list)
		require.Empty(t, g.Notes)
	}
}

// Numbers and truth values without a type compile, with a note that names the typed form.
func TestBareArguments(t *testing.T) {
	text := around("tensor<fp16, [2, 2]> m = matmul(x = x, y = x, transpose_y = true); "+
		"tensor<fp16, [2, 2]> pp = mul(x = m, y = 2); tensor<fp16, [2, 2]> o = softmax(x = pp, axis = -1); "+
		"tensor<fp16, [2, 2]> y = layer_norm(x = o, axes = tensor<int32, [1]>([-1]), epsilon = 1e-12);", "y")
	g, list := analyze(t, text, nil)
	require.Empty(t, list)
	require.Equal(t, []string{
		"e.mil:6:61: matmul: transpose_y: true has no type, which Apple's compiler refuses; write transpose_y = " +
			"bool(true)",
		"e.mil:6:109: mul: y: 2 has no type, which Apple's compiler refuses; write y = fp16(2)",
		"e.mil:6:161: softmax: axis: -1 has no type, which Apple's compiler refuses; write axis = int32(-1)",
		"e.mil:6:252: layer_norm: epsilon: 1e-12 has no type, which Apple's compiler refuses; write epsilon = " +
			"fp32(1e-12)",
	}, g.Notes)
	require.Equal(t, mil.FP16, g.Nodes[1].In[1].DType)
	require.EqualValues(t, float32(1e-12), g.Nodes[3].Attrs.(ops.Norm).Epsilon)

	g, list = analyze(t, around("tensor<fp16, [2, 3]> y = layer_norm(x = x, epsilon = 1);", "y"), nil)
	require.Empty(t, list)
	require.Equal(t, 1.0, g.Nodes[0].Attrs.(ops.Norm).Epsilon, "a whole number is a float where one is needed")
	_, list = analyze(t, around("tensor<fp16, [2, 3]> y = softmax(x = x, axis = 1.0);", "y"), nil)
	require.ErrorContains(t, list, "fp32 where one integer is expected")
	_, list = analyze(t, around("tensor<fp16, [4, 3]> y = concat(values = (x, true), axis = 0);", "y"), nil)
	require.NotEmpty(t, list)
	_, list = analyze(t, around("fp16 y = add(x = s, y = const(val = true));", "y"), nil)
	require.ErrorContains(t, list, "const: true has no type; write val = bool(true)")
}
