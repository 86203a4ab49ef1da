package ops_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// The axes that a norm covers: the last three for l2_norm, those after the channels for instance_norm.
func TestAxesOfNorms(t *testing.T) {
	for statement, want := range map[string][]int{"l2_norm(x = x)": {2, 3, 4}, "instance_norm(x = x)": {2, 3, 4},
		"layer_norm(x = x)": {0, 1, 2, 3, 4}, "layer_norm(x = x, axes = " + ints(mil.Int32, -1, 0) + ")": {0, 4}} {
		n, _, list := call(t, half(2, 3, 4, 5, 6)+" x", half(2, 3, 4, 5, 6), statement)
		require.Empty(t, list, statement)
		require.ElementsMatch(t, want, n.Attrs.(ops.Norm).Axes, statement)
	}
	_, _, list := call(t, half(3, 4)+" x", half(3, 4), "l2_norm(x = x)")
	require.ErrorContains(t, list, "x: shape [3 4]")
}

// Compilers of ios17 and later refuse a clip whose bounds do not differ.
func TestBoundsOfClipAreNoted(t *testing.T) {
	for beta, noted := range map[int]bool{1: true, 2: true, 3: false} {
		_, notes, list := call(t, half(4)+" x", half(4),
			fmt.Sprintf("clip(x = x, alpha = fp16(2), beta = fp16(%d))", beta))
		require.Empty(t, list)
		require.Equal(t, noted, strings.Contains(strings.Join(notes, "\n"), "alpha that is not below beta"), beta)
	}
}

// Random numbers have the type of their first setting, else of the second, else fp32; every seed below 0 is -1.
func TestSettingsOfRandomOperators(t *testing.T) {
	shape := "shape = " + ints(mil.Int32, 4)
	for _, c := range []struct {
		settings string
		d        mil.DType
		want     ops.Random
	}{
		{"", mil.FP32, ops.Random{A: 0, B: 1, Seed: -1}},
		{", mean = fp16(3)", mil.FP16, ops.Random{A: 3, B: 1, Seed: -1}},
		{", stddev = fp16(3), seed = int32(-7)", mil.FP16, ops.Random{A: 0, B: 3, Seed: -1}},
		{", mean = fp16(3), stddev = fp16(5), seed = int32(0)", mil.FP16, ops.Random{A: 3, B: 5}},
	} {
		n, _, list := call(t, half(1)+" x", mil.TensorOf(c.d, 4).String(), "random_normal("+shape+c.settings+")")
		require.Empty(t, list, c.settings)
		require.Equal(t, c.want, n.Attrs, c.settings)
	}
	_, _, list := call(t, half(1)+" x", half(4), "random_normal("+shape+", mean = fp16(3), stddev = fp32(5))")
	require.NotEmpty(t, list, "of two types")
}

// Each operand of a recurrent operator is refused if one of its axes is longer.
func TestOperandsOfRecurrentOperators(t *testing.T) {
	operands := []struct {
		name  string
		shape []int
	}{{"initial_h", []int{2, 10}}, {"initial_c", []int{2, 10}}, {"weight_ih", []int{20, 3}}, {"bias", []int{20}},
		{"peephole", []int{15}}, {"weight_ih_back", []int{20, 3}}, {"weight_hh_back", []int{20, 5}},
		{"bias_back", []int{20}}, {"peephole_back", []int{15}}, {"weight_hh", []int{20, 5}}}
	for k := range operands {
		for axis := range operands[k].shape {
			params, args := half(7, 2, 3)+" x", "x = x"
			for i, o := range operands {
				shape := append([]int{}, o.shape...)
				if i == k {
					shape[axis]++
				}
				params += fmt.Sprintf(", %s p%d", half(shape...), i)
				args += fmt.Sprintf(", %s = p%d", o.name, i)
			}
			_, _, list := call(t, params, half(1), "lstm("+args+`, direction = string("bidirectional"))`)
			require.ErrorContains(t, list, operands[k].name+": ", "%s axis %d", operands[k].name, axis)
		}
	}
}

// uint16 holds the indexes of 65536 elements.
func TestIndexesOfExtremes(t *testing.T) {
	for length, ok := range map[int]bool{65536: true, 65537: false} {
		_, _, list := call(t, half(length)+" x", mil.TensorOf(mil.UInt16, 1).String(),
			`reduce_argmax(x = x, axis = int32(0), keep_dims = bool(true), output_dtype = string("uint16"))`)
		require.Equal(t, ok, len(list) == 0, "%d: %v", length, list)
	}
}

// A factor may leave a single row.
func TestUpsampleToOneRow(t *testing.T) {
	_, _, list := call(t, half(5, 4, 2)+" x", half(5, 1, 2),
		"upsample_nearest_neighbor(x = x, scale_factor_height = fp32(0.25))")
	require.Empty(t, list)
}
