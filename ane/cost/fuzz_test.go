package cost

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
)

// whole checks that an estimate has finite numbers that add up.
func whole(t *testing.T, e *Estimate) {
	t.Helper()
	sum := 0.0
	check := func(f Figure) {
		if math.IsNaN(f.Value) || math.IsInf(f.Value, 0) || f.Value < 0 {
			t.Fatalf("%v", f)
		}
	}
	for _, op := range e.Ops {
		check(op.Time.Figure)
		check(Figure{Value: op.MACs})
		sum += op.Time.Value
		if op.Weights < 0 || op.Elements < 0 || op.Tasks < 0 {
			t.Fatalf("%+v", op)
		}
	}
	for _, p := range e.Parts {
		check(p.Time.Figure)
		sum += p.Time.Value
	}
	for _, f := range []Figure{e.Call.Figure, e.Task.Figure, e.Clock, e.Error, e.Place.CPU.Figure,
		e.Place.Engine.Figure, e.Place.Chosen.Figure} {
		check(f)
	}
	if math.Abs(sum-e.Call.Value) > 1e-6*sum {
		t.Fatalf("parts add up to %g, the call takes %g", sum, e.Call.Value)
	}
	m := e.Memory
	if min(m.Surfaces, m.Largest, m.Weights, m.Intermediate) < 0 {
		t.Fatalf("%+v", m)
	}
}

// Any program that validates has an estimate, on every chip.
func FuzzOf(f *testing.F) {
	f.Add("program(1.3)\n{\n func main<ios18>(tensor<fp16, [1, 64, 4, 64]> x) {\n tensor<fp16, [1, 64, 4, 64]> y = " +
		"softmax(x = x, axis = int32(1));\n } -> (y);\n}\n")
	f.Add("program(1.3)\n{\n func main<ios18>(tensor<fp16, [2147483647, 2147483647, 2147483647]> x) {\n " +
		"tensor<fp16, [0, 3]> y = conv(x = x, weight = x);\n tensor<fp16, []> z = linear(x = y, weight = x);\n" +
		"tensor<fp16, [1, 1]> w = einsum(equation = string(\"ab,bc->ac\"), values = (x, y));\n } -> (z, w);\n}\n")
	f.Add("program(1.3)\n{\n func main<ios18>(state<tensor<fp16, [1, 64]>> s, tensor<fp16, [?, 4]> x) {\n fp16 c = " +
		"constexpr_cast(source_val = fp16(1));\n tensor<fp16, [1, 64]> r = read_state(input = s);\n tensor<fp16, [4, " +
		"9]> " +
		"m = matmul(x = x, y = c);\n tensor<fp16, [4]> k = add(x = m, y = c);\n} -> (k, r);\n}\n")
	for _, result := range []string{"tensor<fp16, [1, ?, 1, 64]>", "tensor<fp16, [1, n, 1, 64]>", "fp16", "string"} {
		f.Add("program(1.3)\n{\n func main<ios18>(tensor<fp16, [1, 64, 1, 64]> x, tensor<fp16, [64, 64, 1, 1]> w) {\n " +
			result + " y = conv(x = x, weight = w);\n " + result +
			" z = conv_transpose(x = x, weight = w);\n} -> (y, z);\n}\n")
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := mil.Parse("f.mil", []byte(text))
		if err != nil {
			return
		}
		for _, c := range chip.All() {
			for engines := 1; engines <= c.Spec().Engines.Value; engines++ {
				e, err := Of(p, Options{Chip: c, Engines: engines, Gap: 100, Idle: 50e3})
				if err != nil {
					continue
				}
				whole(t, e)
			}
		}
	})
}

// Weights made of weights do not grow without bound, nor do long lists of operands take quadratic time.
func TestHostileWeights(t *testing.T) {
	var b strings.Builder
	b.WriteString("tensor<fp16, [4]> c0 = constexpr_cast(source_val = fp16(1));\n")
	for i := range 200 {
		fmt.Fprintf(&b, "tensor<fp16, [4]> c%d = constexpr_blockwise_shift_scale(data = c%d, scale = c%d);\n", i+1, i,
			i)
	}
	b.WriteString("tensor<fp16, [4]> y = mul(x = x, y = c200);")
	e := of(t, fn(t, "tensor<fp16, [4]> x", b.String(), "y"), Options{})
	whole(t, e)
	require.LessOrEqual(t, e.Memory.Weights, int64(1<<50))
	names := make([]string, 20000)
	for i := range names {
		names[i] = "x"
	}
	e = of(t, fn(t, "tensor<fp16, [1, 4]> x", "tensor<fp16, [20000, 4]> y = concat(axis = int32(0), interleave = "+
		"bool(false), values = ("+strings.Join(names, ", ")+"));", "y"), Options{})
	whole(t, e)
}
