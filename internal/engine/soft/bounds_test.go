package soft

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/plan"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/unimem"
)

// TestFoldingWithinTheBudget: compiling computes a constant if its bytes and the workspaces for it fit the budget.
func TestFoldingWithinTheBudget(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for _, c := range []struct{ elements, workers, budget, steps int }{
		{2048, 1, 8192, 0}, {2048, 1, 8191, 1}, // 8,192 bytes of result
		{512, 1, 4 * run.Chunk, 0}, {512, 1, 4*run.Chunk - 1, 1}, // a chunk of float32s of workspace
		{512, 2, 8 * run.Chunk, 0}, {512, 2, 8*run.Chunk - 1, 1},
	} {
		e := New(Workers(c.workers)).(*engine)
		b := plan.Limits(math.MaxInt64, c.workers)
		b.Folded = c.budget
		text := fmt.Sprintf("program(1.3)\n{ func main<ios18>() {\ntensor<fp32, [%[1]d]> c = const()[val = "+
			"tensor<fp32, [%[1]d]>([%[2]s1])];\ntensor<fp32, [%[1]d]> y = tanh(x = c);\n} -> (y); }", c.elements,
			strings.Repeat("1, ", c.elements-1))
		x, err := e.compile(t.Context(), ane.Source{Text: []byte(text)}, b, e.rules)
		require.NoError(t, err)
		steps := slices.DeleteFunc(x.(*executable).plan.Steps, func(s plan.Step) bool { return s.Op == "" })
		require.Len(t, steps, c.steps, "%+v", c)
		require.NoError(t, e.Close())
	}
}

// TestScalesOfInt8: a chip's convolution adds integers if x has one scale, and the weights one or one for each output.
func TestScalesOfInt8(t *testing.T) {
	for _, c := range []struct {
		scale, ones string
		integers    bool
	}{
		{"[1, 1, 1, 1]", "2", true}, {"[2, 1, 1, 1]", "2, 4", true}, {"[1, 2, 1, 1]", "2, 4", false},
		{"[2, 2, 1, 1]", "2, 4, 2, 4", false},
	} {
		steps := stepsOf(t, "tensor<int8, [1, 2, 1, 32]> x", "tensor<fp16, [1, 2, 1, 32]> d = dequantize(input = x, "+
			"scale = fp16(0.5));\ntensor<fp16, [2, 2, 1, 1]> w = constexpr_blockwise_shift_scale(data = "+
			"tensor<int8, [2, 2, 1, 1]>([1, 2, 3, 4]), scale = tensor<fp16, "+c.scale+">(["+c.ones+"]));\n"+
			"tensor<fp16, [1, 2, 1, 32]> y = conv(x = d, weight = w);", Numerics(numerics.M4))
		integers := strings.HasSuffix(fmt.Sprintf("%T", steps[len(steps)-1].Attrs), "ByteWindow")
		require.Equal(t, c.integers, integers, c.scale)
	}
}

// TestFoldedProductsOfChips: compiling computes a product of constants by the rules of a chip.
func TestFoldedProductsOfChips(t *testing.T) {
	x, err := New(Numerics(numerics.M1)).Compile(t.Context(), ane.Source{Text: []byte("program(1.3)\n{ func " +
		"main<ios18>() {\ntensor<fp16, [1, 32]> y = matmul(x = tensor<fp16, [1, 1]>([[3]]), y = tensor<fp16, [1, 32]>([[" +
		strings.Repeat("2, ", 31) + "2]]));\n} -> (y); }")})
	require.NoError(t, err)
	p := x.(*executable).plan
	require.Len(t, p.Steps, 1, "the result is copied to its surface")
	got := run.Vec{DType: mil.FP16}
	for _, f := range p.Steps[0].In[0].Data.Half {
		got.Half = append(got.Half, f)
		require.EqualValues(t, 6, f.Float32())
	}
	require.Len(t, got.Half, 32)
}

// TestFusedStrips: what follows a convolution of channels computes on each strip of its lines, and changes no bit.
func TestFusedStrips(t *testing.T) {
	const text = "program(1.3)\n{ func main<ios18>(tensor<fp16, [1, 2, 80, 64]> x, tensor<fp16, [2, 1, 3, 3]> w) {\n" +
		"tensor<fp16, [1, 2, 80, 64]> c = conv(x = x, weight = w, groups = int32(2), pad_type = string(\"same\"));\n" +
		"tensor<fp16, [1, 2, 80, 64]> y = neg(x = c);\n} -> (y); }"
	var results [][]byte
	for _, opts := range [][]Option{nil, {Unfused()}} {
		e := New(opts...)
		x, err := e.Compile(t.Context(), ane.Source{Text: []byte(text)})
		require.NoError(t, err)
		joined := slices.ContainsFunc(x.(*executable).plan.Steps, func(s plan.Step) bool { return s.Joined })
		require.Equal(t, len(opts) == 0, joined)
		results = append(results, onesThrough(t, x))
		require.NoError(t, e.Close())
	}
	require.Equal(t, results[0], results[1])
	require.NotEqual(t, make([]byte, len(results[0])), results[0])
}

// onesThrough runs a program on halves of 1 and more, and returns its first result.
func onesThrough(t *testing.T, x ane.Executable) []byte {
	require.NoError(t, x.Load(t.Context()))
	defer func() { require.NoError(t, x.Unload(t.Context())) }()
	tensors := func(layouts []ane.Layout) (all []*ane.Tensor) {
		for _, l := range layouts {
			b, err := unimem.Open(l.Bytes())
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, b.Close()) })
			for i := range b.Bytes() {
				b.Bytes()[i] = []byte{byte(i), 0x3c}[i%2]
			}
			tensor, err := ane.OnBlock(b, l)
			require.NoError(t, err)
			all = append(all, tensor)
		}
		return all
	}
	out := tensors(x.Outputs())
	v, err := x.Prepare(tensors(x.Inputs()), out)
	require.NoError(t, err)
	require.NoError(t, v.Evaluate(t.Context()))
	require.NoError(t, v.Close())
	return slices.Clone(out[0].Bytes())
}
