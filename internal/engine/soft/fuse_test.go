package soft_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/numerics"
)

// fusible builds random programs of operators that are fused: products and what follows them element by element,
// beside some that are not.
type fusible struct {
	r      *rand.Rand
	params []string
	body   strings.Builder
	values []typed // that operators read
	made   []typed // that operators computed
}

// typed is the name and the type of a value.
type typed struct {
	name  string
	d     mil.DType
	shape []int
}

func (f *fusible) input(shape ...int) typed {
	v := typed{fmt.Sprintf("i%d", len(f.params)), mil.FP16, shape}
	f.params = append(f.params, tensorType(v.d, shape)+" "+v.name)
	return v
}

// add appends a statement.
func (f *fusible) add(d mil.DType, shape []int, call string, args ...any) typed {
	v := typed{fmt.Sprintf("v%d", len(f.made)), d, shape}
	fmt.Fprintf(&f.body, "%s %s = %s;\n", tensorType(d, shape), v.name, fmt.Sprintf(call, args...))
	f.values, f.made = append(f.values, v), append(f.made, v)
	return v
}

// head adds an input, or a product of inputs.
func (f *fusible) head() {
	r := f.r
	m, k, n := []int{1, 1, 3, 16, 40}[r.IntN(5)], 1+r.IntN(70), []int{1, 8, 33, 300}[r.IntN(4)]
	if r.IntN(4) == 0 {
		k = 257 // with n, enough for the kernels of vectors
	}
	switch r.IntN(5) {
	case 0:
		f.values = append(f.values, f.input(randomShape(r, 1, 4)...))
	case 1:
		f.values = append(f.values, f.input(40+r.IntN(3), 1+r.IntN(2000)))
	case 2:
		b := 1 + r.IntN(2)
		f.add(mil.FP16, []int{b, m, n}, "matmul(x = %s, y = %s)", f.input(b, m, k).name, f.input(k, n).name)
	case 3:
		f.add(mil.FP16, []int{m, n}, "linear(x = %s, weight = %s, bias = %s)", f.input(m, k).name,
			f.input(n, k).name, f.input(n).name)
	case 4:
		g, in, side := 1+r.IntN(2), 1+r.IntN(3), 1+2*r.IntN(2)
		h, w := 3+r.IntN(8), 3+r.IntN(40)
		f.add(mil.FP16, []int{2, g * 3, h, w}, "conv(x = %s, weight = %s, groups = int32(%d), pad_type = "+
			"string(\"same\"))", f.input(2, g*in, h, w).name, f.input(g*3, in, side, side).name, g)
	}
}

var fusedUnary = []string{"relu(x = %s)", "relu6(x = %s)", "abs(x = %s)", "sigmoid(x = %s)", "tanh(x = %s)",
	"silu(x = %s)", "gelu(x = %s, mode = string(\"TANH_APPROXIMATION\"))", "sqrt(x = %s)", "square(x = %s)",
	"leaky_relu(x = %s, alpha = fp16(0.1))", "clip(x = %s, alpha = fp16(-1.5), beta = fp16(3))", "sign(x = %s)",
	"rsqrt(x = %s, epsilon = fp16(0.001))", "threshold(x = %s, alpha = fp16(0.25))", "elu(x = %s, alpha = fp16(0.5))"}

var fusedBinary = []string{"add", "add", "mul", "mul", "sub", "real_div", "maximum", "minimum", "pow", "floor_div"}

// grow adds an operator, more often one on the newest value.
func (f *fusible) grow() {
	r := f.r
	x := f.values[len(f.values)-1]
	if r.IntN(4) == 0 {
		x = f.values[r.IntN(len(f.values))]
	}
	alpha := fmt.Sprintf("%s(%.2f)", x.d, r.NormFloat64())
	switch r.IntN(9) {
	case 0, 1:
		call := fusedUnary[r.IntN(len(fusedUnary))]
		f.add(x.d, x.shape, strings.ReplaceAll(call, "fp16", x.d.String()), x.name)
	case 2, 3, 4:
		y := alpha
		switch like := slices.IndexFunc(f.values, func(v typed) bool {
			return v.name != x.name && v.d == x.d && slices.Equal(v.shape, x.shape)
		}); {
		case like >= 0 && r.IntN(2) == 0: // with another value, with itself, along axes, with a number
			y = f.values[like].name
		case r.IntN(8) == 0:
			y = x.name
		case x.d == mil.FP16 && r.IntN(2) == 0:
			shape := slices.Clone(x.shape[r.IntN(len(x.shape)):])
			for i := range shape {
				if r.IntN(2) == 0 {
					shape[i] = 1
				}
			}
			y = f.input(shape...).name
		}
		args := []any{fusedBinary[r.IntN(len(fusedBinary))], x.name, y}
		if r.IntN(3) == 0 {
			args[1], args[2] = args[2], args[1]
		}
		f.add(x.d, x.shape, "%s(x = %s, y = %s)", args...)
	case 5:
		f.add(x.d, []int{volume(x.shape)}, "reshape(x = %s, shape = %s)", x.name, intVec(volume(x.shape)))
	case 6:
		d := map[mil.DType]mil.DType{mil.FP16: mil.FP32, mil.FP32: mil.FP16}[x.d]
		f.add(d, x.shape, "cast(x = %s, dtype = string(%q))", x.name, d.String())
	case 7:
		f.add(mil.Bool, x.shape, "greater(x = %s, y = %s)", x.name, alpha)
		cond := f.values[len(f.values)-1].name
		f.values = f.values[:len(f.values)-1]
		f.add(x.d, x.shape, "select(cond = %s, a = %s, b = %s)", cond, x.name, alpha)
	case 8:
		if n := len(x.shape); n > 1 {
			perm, shape := r.Perm(n), make([]int, n)
			for i, a := range perm {
				shape[i] = x.shape[a]
			}
			f.add(x.d, shape, "transpose(x = %s, perm = %s)", x.name, intVec(perm...))
		}
	}
}

// text returns the program. Its results are the last value and some others.
func (f *fusible) text() string {
	var results []string
	for i, v := range f.made {
		if i == len(f.made)-1 || f.r.IntN(8) == 0 {
			results = append(results, v.name)
		}
	}
	return "program(1.3)\n{\nfunc main<ios18>(" + strings.Join(f.params, ", ") + ") {\n" + f.body.String() + "} -> (" +
		strings.Join(results, ", ") + ");\n}\n"
}

// outputsOf evaluates a program on numbers from a seed, some of them infinite or none, and returns the bytes of its
// outputs.
func outputsOf(t testing.TB, text string, seed uint64, opts ...soft.Option) (out []string) {
	t.Helper()
	d, err := ane.Open(soft.New(opts...), "")
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	m, err := d.Compile(t.Context(), ane.Source{File: "fused.mil", Text: []byte(text)})
	require.NoError(t, err, text)
	defer func() { require.NoError(t, m.Close(t.Context())) }()
	q, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, q.Close()) }()
	r := rand.New(rand.NewPCG(seed, 1))
	odd := []int{0, 1, 30}[r.IntN(3)] // one element of so many is any bits
	for range 2 {                     // states keep what the first evaluation writes
		for _, l := range m.Inputs() {
			x := encode(fill(r, l.DType, l.Elements()))
			for i := 0; i+1 < len(x) && odd > 0; i += 2 * (1 + r.IntN(2*odd)) {
				le.PutUint16(x[i:], uint16(r.Uint32()))
			}
			_, err := q.Input(l.Name).Write(x)
			require.NoError(t, err)
		}
		_, err = q.Evaluate(t.Context())
		require.NoError(t, err)
		for _, l := range m.Outputs() {
			got := make([]byte, l.PackedBytes())
			_, err := q.Output(l.Name).Read(got)
			require.NoError(t, err)
			out = append(out, string(got))
		}
	}
	return out
}

// requireUnfused compares the program with itself unfused, with one worker and with several.
func requireUnfused(t testing.TB, text string, seed uint64, opts ...soft.Option) {
	t.Helper()
	want := outputsOf(t, text, seed, append(opts, soft.Unfused(), soft.Workers(1))...)
	for _, workers := range []int{1, 3} {
		got := outputsOf(t, text, seed, append(opts, soft.Workers(workers))...)
		for i := range want {
			if want[i] != got[i] {
				t.Fatalf("fused results differ: seed %d, output %d, %d workers:\n%s", seed, i, workers, text)
			}
		}
	}
}

// TestFusedGraphs: fusing changes no bit of random programs, NaNs included, in any mode.
func TestFusedGraphs(t *testing.T) {
	effort.SkipShort(t)
	for round := range effort.Cases(100) {
		f := &fusible{r: rand.New(rand.NewPCG(uint64(round), 31))}
		for range 1 + f.r.IntN(2) {
			f.head()
		}
		for n := 1 + f.r.IntN(14); len(f.made) == 0 || n > 0; n-- {
			f.grow()
		}
		mode := numerics.Reference
		if round%4 == 0 {
			mode = numerics.Modes()[f.r.IntN(len(numerics.Modes()))]
		}
		requireUnfused(t, f.text(), uint64(round), soft.Numerics(mode))
	}
}

// TestFusedProducts has products of every kind of runner: tiles that are parts of rows, rows of pieces that overlap,
// groups, batches, packed weights. A bias, an activation, an operator with a workspace and a residual follow each.
func TestFusedProducts(t *testing.T) {
	effort.SkipShort(t)
	const packed = `tensor<int8, [70, 64]> d = const()[val = tensor<int8, [70, 64]>(%s)];
tensor<fp16, [70, 1]> s = const()[val = tensor<fp16, [70, 1]>(%s)];
tensor<fp16, [70, 64]> w = constexpr_blockwise_shift_scale(data = d, scale = s);
`
	weights := func(n, of int) string {
		list := make([]int, n)
		for i := range list {
			list[i] = i*37%of - of/2
		}
		return ints(list)
	}
	stored := fmt.Sprintf(packed, weights(70*64, 200), weights(70, 5))
	for i, c := range []struct{ params, head, shape, bias string }{
		{"tensor<fp16, [1, 257]> x, tensor<fp16, [333, 257]> w", "linear(x = x, weight = w)", "[1, 333]", "[333]"},
		{"tensor<fp16, [70, 64]> x, tensor<fp16, [300, 64]> w", "linear(x = x, weight = w)", "[70, 300]", "[300]"},
		{"tensor<fp16, [3, 40, 20]> x, tensor<fp16, [20, 300]> w", "matmul(x = x, y = w)", "[3, 40, 300]", "[40, 1]"},
		{"tensor<fp16, [2, 16, 65]> x, tensor<fp16, [2, 65, 2100]> w", "matmul(x = x, y = w)", "[2, 16, 2100]",
			"[2100]"},
		{"tensor<fp16, [100, 65]> x, tensor<fp16, [65, 1]> w", "matmul(x = x, y = w)", "[100, 1]", "[100, 1]"},
		{"tensor<fp16, [2, 6, 20, 30]> x, tensor<fp16, [4, 3, 3, 3]> w", "conv(x = x, weight = w, groups = int32(2), " +
			"pad_type = string(\"same\"))", "[2, 4, 20, 30]", "[1, 4, 1, 1]"},
		{"tensor<fp16, [1, 64]> x", stored + "linear(x = x, weight = w)", "[1, 70]", "[70]"},
		{"tensor<fp16, [9, 64]> x", stored + "linear(x = x, weight = w)", "[9, 70]", "[70]"},
		{"tensor<fp16, [100, 20]> x, tensor<fp16, [8, 20]> w", "linear(x = x, weight = w)", "[100, 8]", "[8]"},
		{"tensor<fp16, [1, 2048]> x, tensor<fp16, [40, 2048]> w", "linear(x = x, weight = w)", "[1, 40]", "[40]"},
		{"tensor<fp16, [3, 40, 20]> x, tensor<fp16, [3, 20, 200]> w", "matmul(x = x, y = w)", "[3, 40, 200]", "[200]"},
		{"tensor<fp16, [2, 6, 10, 12]> x, tensor<fp16, [80, 3, 3, 3]> w", "conv(x = x, weight = w, groups = int32(2), " +
			"pad_type = string(\"same\"))", "[2, 80, 10, 12]", "[1, 80, 1, 1]"},
	} {
		made, head := "", c.head
		if i := strings.LastIndex(head, "\n"); i >= 0 {
			made, head = head[:i+1], head[i+1:]
		}
		text := fmt.Sprintf("program(1.3)\n{\nfunc main<ios18>(%[1]s, tensor<fp16, %[2]s> b, "+
			"tensor<fp16, %[3]s> r) {\n"+
			"%[4]stensor<fp16, %[3]s> p = %[5]s;\ntensor<fp16, %[3]s> q = add(x = p, y = b);\n"+
			"tensor<fp16, %[3]s> a = silu(x = q);\ntensor<fp16, %[3]s> c = floor_div(x = a, y = fp16(0.01));\n"+
			"tensor<fp16, %[3]s> y = add(x = r, y = c);\n} -> (y);\n}\n",
			c.params, c.bias, c.shape, made, head)
		for k, mode := range []numerics.Mode{numerics.Reference, numerics.M1} {
			if !effort.Sample(i+2*k, 6) {
				continue
			}
			requireUnfused(t, text, 1, soft.Numerics(mode))
		}
	}
}

// TestFusedStates: a result that is written to a state, or computed from one before the state is written again.
func TestFusedStates(t *testing.T) {
	for _, body := range []string{`tensor<fp16, [3, 700]> r = read_state(input = s);
tensor<fp16, [3, 700]> a = mul(x = r, y = x);
write_state(input = s, data = x);
tensor<fp16, [3, 700]> y = add(x = a, y = x);`,
		`tensor<fp16, [3, 700]> r = read_state(input = s);
tensor<fp16, [3, 700]> a = add(x = r, y = x);
tensor<fp16, [3, 700]> b = relu(x = a);
write_state(input = s, data = b);
tensor<fp16, [3, 700]> c = read_state(input = s);
tensor<fp16, [3, 700]> y = abs(x = c);`,
		`tensor<fp16, [3, 700]> r = read_state(input = s);
tensor<fp16, [3, 700]> a = sub(x = r, y = x);
tensor<fp16, [3, 700]> u = coreml_update_state(state = s, value = a);
tensor<fp16, [3, 700]> y = neg(x = u);`} {
		text := "program(1.3)\n{\nfunc main<ios18>(state<tensor<fp16, [3, 700]>> s, tensor<fp16, [3, 700]> x) {\n" +
			body + "\n} -> (y);\n}\n"
		for seed := range uint64(3) {
			requireUnfused(t, text, seed)
		}
	}
}

// FuzzFused lets the fuzzer choose the programs.
func FuzzFused(f *testing.F) {
	f.Add(uint64(1), uint8(3))
	f.Fuzz(func(t *testing.T, seed uint64, n uint8) {
		g := &fusible{r: rand.New(rand.NewPCG(seed, 32))}
		g.head()
		for g.grow(); len(g.made) < 1+int(n%20); {
			g.grow()
		}
		requireUnfused(t, g.text(), seed)
	})
}

// TestFusedAllocatesNothing: an evaluation of a chain after a product allocates no more than one of the product alone.
func TestFusedAllocatesNothing(t *testing.T) {
	skipEmulated(t, "allocations do")
	const k = "tensor<fp16, [256, 256]> "
	var of [2]float64
	for i, body := range []string{k + "y = matmul(x = x, y = x);\n",
		k + "p = matmul(x = x, y = x);\n" + k + "a = gelu(x = p, mode = string(\"EXACT\"));\n" + k +
			"c = pow(x = a, y = fp16(2));\n" + k + "y = add(x = x, y = c);\n"} {
		d, err := ane.Open(soft.New(soft.Workers(1)), "")
		require.NoError(t, err)
		m, err := d.Compile(t.Context(), ane.Source{Text: []byte("program(1.3)\n{ func main<ios18>(" + k + "x) {\n" +
			body + "} -> (y); }")})
		require.NoError(t, err)
		q, err := m.NewRequest(t.Context())
		require.NoError(t, err)
		of[i] = testing.AllocsPerRun(10, func() {
			_, err := q.Evaluate(t.Context())
			require.NoError(t, err)
		})
		require.NoError(t, q.Close())
		require.NoError(t, m.Close(t.Context()))
		require.NoError(t, d.Close())
	}
	require.LessOrEqual(t, of[1], of[0])
}
