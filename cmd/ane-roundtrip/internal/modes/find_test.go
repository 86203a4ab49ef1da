package modes

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/numerics"
)

// comparison compares a program of one input x with modes a and b; x holds values, then zeros.
func comparison(t *testing.T, shape []int, body, result string, a, b numerics.Mode, values ...fp16.Bits) Comparison {
	t.Helper()
	text := fmt.Sprintf("program(1.3)\n{\n    func main<ios18>(%s x) {\n%s\n    } -> (%s);\n}",
		mil.TensorOf(mil.FP16, shape...), body, result)
	p, err := mil.Parse("m.mil", []byte(text))
	require.NoError(t, err, text)
	n := 2
	for _, d := range shape {
		n *= d
	}
	data := make([]byte, n)
	for i, h := range values {
		binary.LittleEndian.PutUint16(data[2*i:], uint16(h))
	}
	return Comparison{Source: ane.Source{File: "m.mil", Program: p}, Modes: [2]numerics.Mode{a, b},
		Inputs: map[string][]byte{"x": data}}
}

func half(f float32) fp16.Bits { return fp16.FromFloat32(f) }

// weights is a 1x1 convolution of channels into one.
func weights(channels int, value string) string {
	list := value
	for range channels - 1 {
		list += ", " + value
	}
	return fmt.Sprintf("tensor<fp16, [1, 1, 1, 1]> y = conv(x = x, weight = tensor<fp16, [1, %d, 1, 1]>([%s]))"+
		"[name = string(\"y\")];", channels, list)
}

func unary(op string) string {
	return "tensor<fp16, [1, 1, 1, 4]> y = " + op + "(x = x)[name = string(\"y\")];"
}

// TestRules: for each rule a program that shows it, and nothing else.
func TestRules(t *testing.T) {
	four := []int{1, 4, 1, 1}
	for _, c := range []struct {
		name  string
		shape []int
		body  string
		mode  numerics.Mode
		x     []fp16.Bits
		want  numerics.Rules
	}{
		{"overflow", four, weights(4, "1"), numerics.M6, []fp16.Bits{half(20000), half(20000), half(-20000)},
			numerics.Range},
		{"overflow on the M1", []int{1, 8, 1, 1}, weights(8, "1"), numerics.M1,
			[]fp16.Bits{half(16384), half(16384), 0, 0, half(-16384)}, numerics.Range},
		{"dropped", four, weights(4, "0x1p-10"), numerics.M6, []fp16.Bits{half(0x1p-8)}, numerics.ProductDropped},
		{"aligned", four, weights(4, "0x1.8p-2"), numerics.M6, []fp16.Bits{half(0x1p-14)}, numerics.ProductRounding},
		{"half away", four, weights(4, "1"), numerics.M6, []fp16.Bits{half(2048), half(1)}, numerics.HalfAway},
		{"exponent 31", four, weights(4, "0x1p-12"), numerics.M6, []fp16.Bits{fp16.Inf}, numerics.Exponent31},
		{"fours", four, weights(4, "1"), numerics.M1, []fp16.Bits{half(4096), half(1), half(-4096)}, numerics.Fours},
		{"sigmoid", []int{1, 1, 1, 4}, unary("sigmoid"), numerics.M6, []fp16.Bits{0, half(0.3)}, numerics.Tables},
		{"tanh", []int{1, 1, 1, 4}, unary("tanh"), numerics.M4, []fp16.Bits{0, half(0.3)}, numerics.Tables},
		{"round", []int{1, 1, 1, 4}, unary("round"), numerics.M5, []fp16.Bits{half(1024)}, numerics.RoundInHalf},
		{"slice", []int{1, 1, 1, 4}, "tensor<fp16, [1, 1, 1, 2]> y = slice_by_index(x = x, " +
			"begin = tensor<int32, [4]>([0, 0, 0, 2]), end = tensor<int32, [4]>([1, 1, 1, 4]))[name = string(\"y\")];",
			numerics.M1, []fp16.Bits{0, 0, half(4095)}, numerics.SliceTimes16},
		{"add", []int{1, 1, 1, 4}, "tensor<fp16, [1, 1, 1, 4]> y = add(x = x, y = fp16(1))[name = string(\"y\")];",
			numerics.M6, []fp16.Bits{half(2048)}, numerics.HalfAway},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmp := comparison(t, c.shape, c.body, "y", numerics.Reference, c.mode, c.x...)
			found, err := cmp.Find(t.Context())
			require.NoError(t, err)
			require.NotNil(t, found.Difference)
			require.Equal(t, 1, found.Compared)
			require.Equal(t, []string{c.want.String()}, found.Difference.Rules)
			require.NotZero(t, found.Difference.ULPs)
		})
	}
}

// TestFirstOperator: the operators before are equal, the first that differs is reported with its element.
func TestFirstOperator(t *testing.T) {
	body := `fp16 two = const()[name = string("two"), val = fp16(2)];
tensor<fp16, [1, 2, 1, 4]> a = mul(x = x, y = two)[name = string("a")];
tensor<fp16, [1, 2, 1, 4]> b = add(x = a, y = fp16(1))[name = string("b")];
tensor<fp16, [1, 2, 1, 4]> c = sigmoid(x = b)[name = string("c")];`
	x := make([]fp16.Bits, 8)
	x[6] = half(1024)
	c := comparison(t, []int{1, 2, 1, 4}, body, "c", numerics.Reference, numerics.M6, x...)
	found, err := c.Find(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, found.Compared)
	d := found.Difference
	require.Equal(t, "b", d.Value)
	require.Equal(t, "add", d.Operator)
	require.Equal(t, []int{0, 1, 0, 2}, d.Index)
	require.Equal(t, [2]trial.Number{2048, 2050}, d.Values)
	require.Equal(t, [2]string{"2048", "2050"}, d.Shown)
	require.Equal(t, []any{uint64(1), 1, 2.0}, []any{d.ULPs, d.Differ, d.Worst})

	c.Tol = 0.01 // beyond the rounding, sigmoid's table is within the tolerance too
	found, err = c.Find(t.Context())
	require.NoError(t, err)
	require.Nil(t, found.Difference)
	require.Equal(t, 3, found.Compared)

	c.Tol, c.Modes[1] = 0, numerics.Reference
	found, err = c.Find(t.Context())
	require.NoError(t, err)
	require.Nil(t, found.Difference)
}

// TestInfiniteElements: an element that is infinite in one mode differs by no number, and is counted.
func TestInfiniteElements(t *testing.T) {
	body := `tensor<fp16, [1, 2, 1, 4]> a = mul(x = x, y = fp16(0x1p-12))[name = string("a")];
tensor<fp16, [1, 2, 1, 4]> b = add(x = a, y = fp16(1))[name = string("b")];`
	x := make([]fp16.Bits, 8)
	x[3], x[6] = half(float32(math.Inf(1))), half(float32(math.NaN()))
	c := comparison(t, []int{1, 2, 1, 4}, body, "b", numerics.Reference, numerics.M6, x...)
	c.All = true
	found, err := c.Find(t.Context())
	require.NoError(t, err)
	require.Equal(t, "a", found.Difference.Value)
	extent := Extent{Elements: 8, Differ: 2, Infinite: 2}
	require.Equal(t, extent, found.Difference.Extent)
	require.Len(t, found.Operators, 2)
	for _, r := range found.Operators {
		require.Equal(t, extent, r.Extent, r.Value)
	}
}

// TestOverflowAfterRounding: with a tolerance the sum that overflows is found after an addition that rounds
// away.
func TestOverflowAfterRounding(t *testing.T) {
	body := "tensor<fp16, [1, 4, 1, 1]> a = add(x = x, y = fp16(1))[name = string(\"a\")];\n" +
		"tensor<fp16, [1, 1, 1, 1]> y = conv(x = a, weight = tensor<fp16, [1, 4, 1, 1]>([10, 10, 10, 10]))" +
		"[name = string(\"y\")];"
	c := comparison(t, []int{1, 4, 1, 1}, body, "y", numerics.Reference, numerics.M6, half(2048), half(2048))
	found, err := c.Find(t.Context())
	require.NoError(t, err)
	require.Equal(t, "a", found.Difference.Value)
	c.Tol = 0.01
	found, err = c.Find(t.Context())
	require.NoError(t, err)
	require.Equal(t, "y", found.Difference.Value)
	require.Equal(t, []string{numerics.Range.String()}, found.Difference.Rules)
}
