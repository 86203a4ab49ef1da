package soft

import (
	"context"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/numerics"
	tests "github.com/anekit/anekit/internal/budget"
	"github.com/anekit/anekit/internal/require"
	"github.com/anekit/anekit/unimem"
)

// asked is a context that counts how often a run asks for its error.
type asked struct {
	context.Context
	count int
}

func (a *asked) Err() error { a.count++; return nil }

// effort is what one run of a program takes.
type effort struct {
	work    int      // in the units of spread
	checks  int      // of the context
	room    int      // float32s of workspace
	runners []string // types
}

// parted is a runner that computes each piece in three parts, and finds what each of them writes. Together they write
// what the whole piece does.
type parted struct {
	runner
	t    *testing.T
	some bool // another runner of its sequence writes what it leaves out
}

// span implements runner. The parts of a piece may run on several goroutines.
func (p *parted) span(c *call, lo, hi, worker int) {
	written := func(lo, hi int) (all [][]bool) {
		for range c.out {
			all = append(all, nil)
		}
		for _, unwritten := range []byte{0x5a, 0xa5} {
			for i := range c.out {
				for k := range c.out[i].raw {
					c.out[i].raw[k] = unwritten
				}
			}
			p.runner.span(c, lo, hi, worker)
			for i := range c.out {
				if all[i] == nil {
					all[i] = make([]bool, len(c.out[i].raw))
				}
				for k, b := range c.out[i].raw {
					all[i][k] = all[i][k] || b != unwritten
				}
			}
		}
		return all
	}
	made := func(cuts ...int) (all [][]byte) {
		for i := range c.out {
			for k := range c.out[i].raw {
				c.out[i].raw[k] = 0x33
			}
		}
		for k := range cuts[1:] {
			p.runner.span(c, cuts[k], cuts[k+1], worker)
		}
		for i := range c.out {
			all = append(all, slices.Clone(c.out[i].raw))
		}
		return all
	}
	cuts := slices.Compact([]int{lo, lo + (hi-lo)/3, lo + (hi-lo+1)*2/3, hi})
	for i, whole := range made(lo, hi) {
		require.True(p.t, slices.Equal(whole, made(cuts...)[i]), "result %d of %T in pieces %d", i, p.runner, cuts)
	}
	for i := range c.out {
		writers := make([]int, len(c.out[i].raw))
		for k := range cuts[1:] {
			for at, wrote := range written(cuts[k], cuts[k+1])[i] {
				if wrote {
					writers[at]++
				}
			}
		}
		for at, n := range writers {
			if n != 1 && !(p.some && n == 0) {
				p.t.Fatalf("items %d of %T: %d of the pieces write byte %d of result %d", cuts, p.runner, n, at, i)
			}
		}
	}
}

// idle is a runner that tells its work and computes nothing.
type idle struct{ runner }

// span implements runner.
func (idle) span(*call, int, int, int) {}

// effortOf runs a program with one worker. It counts the steps of operators, not those that copy surfaces. If part is
// not nil, what it returns takes the place of each step's runner, and of each runner of a sequence.
func effortOf(t *testing.T, text string, unfolded bool, part func(runner) runner, opts ...Option) (e effort) {
	t.Helper()
	soft := New(append(opts, Workers(1), Unfused())...).(*engine)
	defer func() { require.NoError(t, soft.Close()) }()
	b := limits.among(1)
	if unfolded {
		b = b.within(0)
	}
	compiled, err := soft.compile(t.Context(), ane.Source{Text: []byte(text)}, b, soft.rules)
	require.NoError(t, err, text)
	x := compiled.(*executable)
	require.NoError(t, x.Load(t.Context()))
	defer func() { require.NoError(t, x.Unload(t.Context())) }()
	var numbers []byte // halves of 1 and more
	for i := 0; i < 256; i += 2 {
		numbers = append(numbers, byte(i), 0x3c)
	}
	tensors := func(layouts []ane.Layout) (all []*ane.Tensor) {
		for _, l := range layouts {
			b, err := unimem.Open(l.Bytes())
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, b.Close()) })
			tensor, err := ane.OnBlock(b, l)
			require.NoError(t, err)
			if l.DType == mil.FP16 {
				repeat(b.Bytes(), numbers)
			}
			all = append(all, tensor)
		}
		return all
	}
	made, err := x.Prepare(tensors(x.Inputs()), tensors(x.Outputs()))
	require.NoError(t, err)
	v := made.(*invocation)
	defer func() { require.NoError(t, v.Close()) }()
	const most = 1 << 50
	for i := range v.calls {
		s, c, left, ctx := &x.plan.steps[i], &v.calls[i], most, &asked{Context: t.Context()}
		if s.op != "" && part != nil {
			if all, ok := c.run.(*sequence); ok {
				parts := make(sequence, len(*all))
				for k, r := range *all {
					parts[k] = part(r)
				}
				c.run = &parts
			} else {
				c.run = part(c.run)
			}
		}
		c.begin(ctx, 0, 1)
		c.budget = &left
		c.run.run(c)
		require.Nil(t, c.fault.Load())
		if s.op != "" {
			e.work, e.checks, e.room = e.work+most-left, e.checks+ctx.count, max(e.room, s.work)
			kind := fmt.Sprintf("%T", s.run)
			e.runners = append(e.runners, kind[strings.Index(kind, ".")+1:])
		}
	}
	return e
}

// sized is an operator of many sizes: {a} stands for the first of them, {a*2}, {a*4}, {a/2} and {a+64} for what follows
// from it.
type sized struct {
	params, body string
	sizes        []int
	units        func(d []int) int // its elements, or its products, as the operator is defined; nil for those of sizes
	unfolded     bool              // compiling may not compute it
	often        bool              // checks its context more often
}

func (s *sized) text(d []int) string {
	var list []string
	for i, n := range d {
		a := string(rune('a' + i))
		for form, n := range map[string]int{"": n, "*2": n * 2, "*4": n * 4, "/2": n / 2, "+64": n + 64} {
			list = append(list, "{"+a+form+"}", fmt.Sprint(n))
		}
	}
	r := strings.NewReplacer(list...)
	return "program(1.3)\n{ func main<ios18>(" + r.Replace(s.params) + ") {\n" + r.Replace(s.body) + "\n} -> (y); }"
}

// unaryOf returns an operator on halves whose result has the shape of x.
func unaryOf(shape, call string, sizes ...int) sized {
	k := "tensor<fp16, " + shape + "> "
	return sized{params: k + "x", body: k + "y = " + call + ";", sizes: sizes}
}

var sizedOperators = map[string]sized{
	"relu":          unaryOf("[{a}, {b}]", "relu(x = x)", 64, 512),
	"tanh":          unaryOf("[{a}, {b}]", "tanh(x = x)", 64, 512),
	"clip":          unaryOf("[{a}, {b}]", "clip(x = x, alpha = fp16(-1), beta = fp16(2))", 64, 512),
	"add":           unaryOf("[{a}, {b}]", "add(x = x, y = x)", 64, 512),
	"pow":           unaryOf("[{a}, {b}]", "pow(x = x, y = x)", 64, 512),
	"softmax":       unaryOf("[{a}, {b}]", "softmax(x = x, axis = int32(-1))", 64, 512),
	"softmax 0":     unaryOf("[{a}, {b}]", "softmax(x = x, axis = int32(0))", 64, 512),
	"layer_norm":    unaryOf("[{a}, {b}]", "layer_norm(x = x, axes = tensor<int32, [1]>([1]))", 64, 512),
	"layer_norm 0":  unaryOf("[{a}, {b}]", "layer_norm(x = x, axes = tensor<int32, [1]>([0]))", 64, 512),
	"instance_norm": unaryOf("[1, {a}, 4, {b}]", "instance_norm(x = x)", 16, 512),
	"batch_norm": {params: "tensor<fp16, [1, {a}, {b}]> x", sizes: []int{16, 512},
		body: "tensor<fp16, [{a}]> c = fill(shape = tensor<int32, [1]>([{a}]), value = fp16(2));" +
			"tensor<fp16, [1, {a}, {b}]> y = batch_norm(x = x, mean = c, variance = c);"},
	"l2_norm":             unaryOf("[{a}, 2, 4, {b}]", "l2_norm(x = x)", 16, 512),
	"local_response_norm": unaryOf("[1, {a}, 4, {b}]", "local_response_norm(x = x, size = int32(3))", 16, 512),
	"cumsum":              unaryOf("[{a}, {b}]", "cumsum(x = x, axis = int32(1))", 64, 512),
	"cumsum 0":            unaryOf("[{a}, {b}]", "cumsum(x = x, axis = int32(0))", 64, 512),
	"band_part":           unaryOf("[{a}, {b}]", "band_part(x = x, lower = int32(1), upper = int32(1))", 64, 512),
	"reverse":             unaryOf("[{a}, {b}]", "reverse(x = x, axes = tensor<int32, [1]>([1]))", 64, 512),
	"prelu":               unaryOf("[{a}, 1, {b}]", "prelu(x = x, alpha = tensor<fp16, [1]>([2]))", 64, 512),
	"softplus_parametric": unaryOf("[1, 1, {a}, {b}]", "softplus_parametric(x = x, "+
		"alpha = tensor<fp16, [1]>([2]), beta = tensor<fp16, [1]>([3]))", 64, 512),
	"reduce_argmax": {params: halves2, body: "tensor<int32, [{a}, 1]> y = reduce_argmax(x = x, axis = int32(1), " +
		"keep_dims = bool(true));", sizes: []int{64, 512}},
	"reduce_argmax 0": {params: halves2, body: "tensor<int32, [1, {b}]> y = reduce_argmax(x = x, axis = int32(0), " +
		"keep_dims = bool(true));", sizes: []int{64, 512}},
	"reduce_sum":           reduceOf("reduce_sum", 1, "fp16"),
	"reduce_sum 0":         reduceOf("reduce_sum", 0, "fp16"),
	"reduce_max":           reduceOf("reduce_max", 1, "fp16"),
	"reduce_max 0":         reduceOf("reduce_max", 0, "fp16"),
	"reduce_prod":          reduceOf("reduce_prod", 1, "fp16"),
	"reduce_prod 0":        reduceOf("reduce_prod", 0, "fp16"),
	"reduce_log_sum_exp":   reduceOf("reduce_log_sum_exp", 1, "fp16"),
	"reduce_log_sum_exp 0": reduceOf("reduce_log_sum_exp", 0, "fp16"),
	"reduce_sum 32":        reduceOf("reduce_sum", 1, "fp32"),
	"reduce_sum int":       reduceOf("reduce_sum", 1, "int32"),
	"reduce_sum int 0":     reduceOf("reduce_sum", 0, "int32"),
	"reduce_sum short": {params: "tensor<fp16, [{a}, 4]> x", sizes: []int{4096},
		body:  "tensor<fp16, [{a}, 1]> y = reduce_sum(x = x, axes = tensor<int32, [1]>([1]), keep_dims = bool(true));",
		units: func(d []int) int { return 4 * d[0] }, often: true},
	"cast": {params: halves2, body: "tensor<fp32, [{a}, {b}]> y = cast(x = x, dtype = string(\"fp32\"));",
		sizes: []int{64, 512}},
	"greater": {params: halves2, body: "tensor<bool, [{a}, {b}]> y = greater(x = x, y = fp16(1));",
		sizes: []int{64, 512}},
	"greater int": {params: "tensor<int32, [{a}, {b}]> x", sizes: []int{64, 512},
		body: "tensor<bool, [{a}, {b}]> y = greater(x = x, y = int32(1));"},
	"logical_not": {params: halves2, sizes: []int{64, 512},
		body: "tensor<bool, [{a}, {b}]> a = cast(x = x, dtype = string(\"bool\"));" +
			"tensor<bool, [{a}, {b}]> y = logical_not(x = a);"},
	"logical_and": {params: halves2, sizes: []int{64, 512},
		body: "tensor<bool, [{a}, {b}]> a = cast(x = x, dtype = string(\"bool\"));" +
			"tensor<bool, [{a}, {b}]> y = logical_and(x = a, y = a);"},
	"select": {params: halves2, sizes: []int{64, 512},
		body: "tensor<bool, [{a}, {b}]> a = greater(x = x, y = fp16(1));" +
			"tensor<fp16, [{a}, {b}]> y = select(cond = a, a = x, b = fp16(3));"},
	"mul int": {params: "tensor<int32, [{a}, {b}]> x", sizes: []int{64, 512},
		body: "tensor<int32, [{a}, {b}]> y = mul(x = x, y = int32(3));"},
	"abs int": {params: "tensor<int32, [{a}, {b}]> x", sizes: []int{64, 512},
		body: "tensor<int32, [{a}, {b}]> y = abs(x = x);"},
	"tanh 32": {params: "tensor<fp32, [{a}, {b}]> x", sizes: []int{64, 512},
		body: "tensor<fp32, [{a}, {b}]> y = tanh(x = x);"},
	"add 32": {params: "tensor<fp32, [{a}, {b}]> x", sizes: []int{64, 512},
		body: "tensor<fp32, [{a}, {b}]> y = add(x = x, y = x);"},
	"layer_norm 32": {params: "tensor<fp32, [{a}, {b}]> x", sizes: []int{64, 512},
		body: "tensor<fp32, [{a}, {b}]> y = layer_norm(x = x, axes = tensor<int32, [1]>([1]));"},
	"softmax 32": {params: "tensor<fp32, [{a}, {b}]> x", sizes: []int{64, 512},
		body: "tensor<fp32, [{a}, {b}]> y = softmax(x = x, axis = int32(-1));"},
	"fill_like": {params: halves2, body: "tensor<fp16, [{a}, {b}]> y = fill_like(ref_tensor = x, " +
		"value = fp16(3));", sizes: []int{64, 2048}, unfolded: true},
	"range_1d": {params: "tensor<fp16, [32]> x", sizes: []int{65536}, unfolded: true,
		body: "tensor<fp32, [{a}]> y = range_1d(start = fp32(0), end = fp32({a}), step = fp32(1));"},
	"one_hot": {params: "tensor<int32, [{a}]> x", sizes: []int{64, 512},
		body: "tensor<fp16, [{a}, {b}]> y = one_hot(indices = x, one_hot_vector_size = int32({b}), " +
			"axis = int32(-1), on_value = fp16(1), off_value = fp16(0));"},
	"one_hot 0": {params: "tensor<int32, [{b}]> x", sizes: []int{64, 512},
		body: "tensor<fp16, [{a}, {b}]> y = one_hot(indices = x, one_hot_vector_size = int32({a}), " +
			"axis = int32(0), on_value = fp16(1), off_value = fp16(0));"},
	"gather": {params: "tensor<fp16, [8, {b}]> x, tensor<int32, [{a}]> i", sizes: []int{1024, 64},
		body: "tensor<fp16, [{a}, {b}]> y = gather(x = x, indices = i, axis = int32(0));"},
	"gather of elements": {params: "tensor<fp16, [32]> x, tensor<int32, [{a}]> i", sizes: []int{65536},
		body: "tensor<fp16, [{a}]> y = gather(x = x, indices = i, axis = int32(0));"},
	"gather in batches": {params: "tensor<fp16, [16, 32]> x, tensor<int32, [16, {a}]> i", sizes: []int{4096},
		body:  "tensor<fp16, [16, {a}]> y = gather(x = x, indices = i, axis = int32(1), batch_dims = int32(1));",
		units: func(d []int) int { return 16 * d[0] }},
	"gather of int8": {params: "tensor<int8, [32]> x, tensor<int32, [{a}]> i", sizes: []int{65536},
		body: "tensor<int8, [{a}]> y = gather(x = x, indices = i, axis = int32(0));"},
	"gather_nd": {params: "tensor<fp16, [8, 8, {b}]> x, tensor<int32, [{a}, 2]> i", sizes: []int{1024, 64},
		body: "tensor<fp16, [{a}, {b}]> y = gather_nd(x = x, indices = i);"},
	"gather_along_axis": {params: "tensor<fp16, [8, {b}]> x, tensor<int32, [{a}, {b}]> i", sizes: []int{1024, 64},
		body: "tensor<fp16, [{a}, {b}]> y = gather_along_axis(x = x, indices = i, axis = int32(0));"},
	"gather_along_axis int8": {params: "tensor<int8, [8, {b}]> x, tensor<int32, [{a}, {b}]> i",
		sizes: []int{1024, 64},
		body:  "tensor<int8, [{a}, {b}]> y = gather_along_axis(x = x, indices = i, axis = int32(0));"},
	"scatter": {params: "tensor<fp16, [8, {b}]> x, tensor<int32, [{a}]> i, tensor<fp16, [{a}, {b}]> u",
		sizes: []int{1024, 64}, body: "tensor<fp16, [8, {b}]> y = scatter(data = x, indices = i, updates = u, " +
			"axis = int32(0), mode = string(\"add\"));"},
	"scatter_along_axis": {sizes: []int{1024, 64},
		params: "tensor<fp16, [8, {b}]> x, tensor<int32, [{a}, {b}]> i, tensor<fp16, [{a}, {b}]> u",
		body: "tensor<fp16, [8, {b}]> y = scatter_along_axis(data = x, indices = i, updates = u, " +
			"axis = int32(0), mode = string(\"add\"));"},
	"topk": {params: halves2, sizes: []int{64, 1024, 16},
		body: "tensor<fp16, [{a}, {c}]> y, tensor<int32, [{a}, {c}]> z = topk(x = x, k = int32({c}), " +
			"axis = int32(1));", units: func(d []int) int { return d[0] * d[1] * bits.Len(uint(d[2])) }},
	"argsort": {params: halves2, sizes: []int{8, 4096},
		body:  "tensor<int32, [{a}, {b}]> y = argsort(x = x, axis = int32(1));",
		units: func(d []int) int { return d[0] * d[1] * bits.Len(uint(d[1])) }},
	"reverse_sequence": {params: "tensor<fp16, [{a}, {b}, 32]> x, tensor<int32, [{a}]> l", sizes: []int{16, 64},
		body: "tensor<fp16, [{a}, {b}, 32]> y = reverse_sequence(x = x, lengths = l, seq_axis = int32(1), " +
			"batch_axis = int32(0));", units: func(d []int) int { return 32 * d[0] * d[1] }},
	"transpose": {params: halves2, body: "tensor<fp16, [{b}, {a}]> y = transpose(x = x, " +
		"perm = tensor<int32, [2]>([1, 0]));", sizes: []int{64, 512}},
	"transpose of rows": {params: "tensor<fp16, [8, {a}, {b}]> x", sizes: []int{64, 512}, body: "tensor<fp16, " +
		"[{a}, 8, {b}]> y = transpose(x = x, perm = tensor<int32, [3]>([1, 0, 2]));"},
	"concat": {params: halves2, body: "tensor<fp16, [{a}, {b*2}]> y = concat(values = (x, x), axis = int32(1), " +
		"interleave = bool(false));", sizes: []int{64, 512}},
	"pad": {params: halves2, body: "tensor<fp16, [{a}, {b}]> a = abs(x = x);" +
		"tensor<fp16, [{a}, {b+64}]> y = pad(x = a, pad = tensor<int32, [4]>([0, 0, 32, 32]), " +
		"mode = string(\"reflect\"));", sizes: []int{64, 512}},
	"space_to_batch": {params: "tensor<fp16, [1, {a}, 64, {b}]> x", sizes: []int{4, 256},
		body: "tensor<fp16, [4, {a}, 32, {b/2}]> y = space_to_batch(x = x, block_shape = tensor<int32, [2]>([2, 2]), " +
			"paddings = tensor<int32, [2, 2]>([[0, 0], [0, 0]]));",
		units: func(d []int) int { return 64 * d[0] * d[1] }},
	"matmul":   matmulOf("", 64, 128, 256),
	"matmul 1": matmulOf("", 1, 512, 1024),
	"matmul transposed": {params: "tensor<fp16, [{a}, {b}]> x, tensor<fp16, [{c}, {b}]> z",
		sizes: []int{64, 128, 256}, body: "tensor<fp16, [{a}, {c}]> y = matmul(x = x, y = z, transpose_y = bool(true));"},
	"linear of one": {params: "tensor<fp16, [1, {a}]> x, tensor<fp16, [{b}, {a}]> w", sizes: []int{512, 1024},
		body: "tensor<fp16, [1, {b}]> y = linear(x = x, weight = w);"},
	"conv": {params: "tensor<fp16, [1, {a}, 16, 64]> x, tensor<fp16, [{b}, {a}, 3, 3]> w", sizes: []int{16, 32},
		body:  "tensor<fp16, [1, {b}, 16, 64]> y = conv(x = x, weight = w, pad_type = string(\"same\"));",
		units: func(d []int) int { return d[0] * d[1] * 9 * 16 * 64 }},
	"conv of four outputs of a channel": {params: "tensor<fp16, [1, {a}, 16, {b}]> x, tensor<fp16, [{a*4}, 1, 3, 3]> w",
		sizes: []int{16, 64}, body: "tensor<fp16, [1, {a*4}, 16, {b}]> y = conv(x = x, weight = w, " +
			"groups = int32({a}), pad_type = string(\"same\"));",
		units: func(d []int) int { return d[0] * 4 * d[1] * 9 * 16 }},
	"conv of channels": {params: "tensor<fp16, [1, {a}, 16, {b}]> x, tensor<fp16, [{a}, 1, 3, 3]> w",
		sizes: []int{16, 64}, body: "tensor<fp16, [1, {a}, 16, {b}]> y = conv(x = x, weight = w, " +
			"groups = int32({a}), pad_type = string(\"same\"));",
		units: func(d []int) int { return d[0] * d[1] * 9 * 16 }},
	"attention": {params: "tensor<fp16, [{a}, {b}, {c}]> q, tensor<fp16, [{a}, {d}, {c}]> k, " +
		"tensor<fp16, [{a}, {d}, {e}]> v", sizes: []int{4, 128, 64, 96, 32},
		body:  "tensor<fp16, [{a}, {b}, {e}]> y = scaled_dot_product_attention(query = q, key = k, value = v);",
		units: func(d []int) int { return d[0] * d[1] * d[3] * (d[2] + d[4] + 8) }},
	"lstm": {params: "tensor<fp16, [{a}, {b}, {c}]> x", sizes: []int{16, 4, 64, 32}, body: "" +
		"tensor<fp16, [{b}, {d}]> h = fill(shape = tensor<int32, [2]>([{b}, {d}]), value = fp16(0));" +
		"tensor<fp16, [{d*4}, {c}]> i = fill(shape = tensor<int32, [2]>([{d*4}, {c}]), value = fp16(0.5));" +
		"tensor<fp16, [{d*4}, {d}]> w = fill(shape = tensor<int32, [2]>([{d*4}, {d}]), value = fp16(0.5));" +
		"tensor<fp16, [{a}, {b}, {d}]> y, tensor<fp16, [{b}, {d}]> a, tensor<fp16, [{b}, {d}]> b = " +
		"lstm(x = x, initial_h = h, initial_c = h, weight_ih = i, weight_hh = w, output_sequence = bool(true));",
		units: func(d []int) int { return d[0] * d[1] * 4 * d[3] * (d[2] + d[3] + 8) }},
	"max_pool": poolOf("max_pool", 3),
	"avg_pool": poolOf("avg_pool", 3),
	"l2_pool":  poolOf("l2_pool", 3),
	"resize": {params: "tensor<fp16, [1, {a}, 16, {b}]> x", sizes: []int{4, 256}, body: "tensor<fp16, " +
		"[1, {a}, 32, {b}]> y = resize_bilinear(x = x, target_size_height = int32(32), " +
		"target_size_width = int32({b}));", units: func(d []int) int { return d[0] * d[1] * 32 }},
	"resize nearest": {params: "tensor<fp16, [1, {a}, 16, {b}]> x", sizes: []int{4, 256}, body: "tensor<fp16, " +
		"[1, {a}, 32, {b}]> y = resize_nearest_neighbor(x = x, target_size_height = int32(32), " +
		"target_size_width = int32({b}));", units: func(d []int) int { return d[0] * d[1] * 32 }},
	"crop_resize": {params: "tensor<fp16, [1, {a}, 64, 64]> x, tensor<fp16, [{b}, 4]> b, tensor<int32, [{b}]> i",
		sizes: []int{4, 8}, body: "tensor<fp16, [{b}, {a}, 32, 32]> y = crop_resize(x = x, boxes = b, " +
			"box_indices = i, target_height = int32(32), " +
			"target_width = int32(32));", units: func(d []int) int { return d[0] * d[1] * 1024 }},
	"quantize": {params: halves2, body: "tensor<int8, [{a}, {b}]> y = quantize(input = x, scale = fp16(0.5), " +
		"output_dtype = string(\"int8\"));", sizes: []int{64, 512}},
	"dequantize": {params: "tensor<int8, [{a}, {b}]> x", body: "tensor<fp16, [{a}, {b}]> y = " +
		"dequantize(input = x, scale = fp16(0.5));", sizes: []int{64, 512}},
	"random_uniform": {params: "tensor<fp16, [32]> x", sizes: []int{16, 512}, body: "tensor<fp16, [{a}, {b}]> y = " +
		"random_uniform(shape = tensor<int32, [2]>([{a}, {b}]), low = fp16(0), high = fp16(1), seed = int32(-1));"},
}

const halves2 = "tensor<fp16, [{a}, {b}]> x"

func reduceOf(op string, axis int, dtype string) sized {
	result := []string{"[1, {b}]", "[{a}, 1]"}[axis]
	return sized{params: "tensor<" + dtype + ", [{a}, {b}]> x", sizes: []int{64, 512}, body: "tensor<" + dtype +
		", " + result + "> y = " + op + fmt.Sprintf(
		"(x = x, axes = tensor<int32, [1]>([%d]), keep_dims = bool(true));", axis)}
}

func matmulOf(settings string, sizes ...int) sized {
	return sized{params: "tensor<fp16, [{a}, {b}]> x, tensor<fp16, [{b}, {c}]> z", sizes: sizes,
		body: "tensor<fp16, [{a}, {c}]> y = matmul(x = x, y = z" + settings + ");"}
}

func poolOf(op string, size int) sized {
	k := "tensor<fp16, [1, {a}, 32, {b}]> "
	return sized{params: k + "x", sizes: []int{16, 64}, body: k + "y = " + op + fmt.Sprintf(
		"(x = x, kernel_sizes = tensor<int32, [2]>([%[1]d, %[1]d]), pad_type = string(\"same\"));", size),
		units: func(d []int) int { return d[0] * d[1] * 32 * size * size }}
}

// TestWorkOfOperators: the work that a step tells, which decides how many goroutines share it and whether compiling
// computes it, grows as the operator does; the checks of the context are neither rare nor a cost; and the workspace
// grows no faster than the operator. A plain run computes one operator of four, and counts the work of the others
// alone.
func TestWorkOfOperators(t *testing.T) {
	tests.SkipSlow(t)
	for nth, name := range slices.Sorted(maps.Keys(sizedOperators)) {
		var part func(runner) runner
		if nth%4 != 0 && tests.Light() {
			part = func(r runner) runner { return idle{r} }
		}
		o := sizedOperators[name]
		for mode, opts := range [][]Option{nil, {Numerics(numerics.M1)}} {
			t.Run(fmt.Sprint(name, "/", mode), func(t *testing.T) {
				if mode != 0 {
					tests.Heavy(t, "each operator in each arithmetic")
				}
				var base effort
				var per float64
				for i := -1; i < len(o.sizes); i++ {
					d := slices.Clone(o.sizes)
					if i >= 0 {
						d[i] *= 2
					}
					units := 1
					for _, n := range d {
						units *= n
					}
					if o.units != nil {
						units = o.units(d)
					}
					e := effortOf(t, o.text(d), o.unfolded, part, opts...)
					if i < 0 {
						base, per = e, float64(e.work)/float64(units)
						t.Logf("%.2f for each, %d work, %d checks, room of %d, %v", per, e.work, e.checks, e.room,
							e.runners)
						require.GreaterOrEqual(t, per, 0.25)
						require.LessOrEqual(t, per, 64.0)
						require.LessOrEqual(t, e.room, max(32<<10, e.work/3))
					}
					require.InEpsilon(t, per, float64(e.work)/float64(units), 0.1, "%v", d)
					require.LessOrEqual(t, e.room, 3*base.room, "%v", d)
					require.Equal(t, base.runners, e.runners, "%v", d)
					if part != nil {
						continue
					}
					require.GreaterOrEqual(t, e.checks, 1+e.work>>22, "%v", d)
					if !o.often {
						require.LessOrEqual(t, e.checks, e.work/100, "%v", d)
					}
				}
			})
		}
	}
}

// TestPiecesAreApart: two pieces of a step never write the same element, and together they write all. A plain run has
// smaller sizes for three operators of four.
func TestPiecesAreApart(t *testing.T) {
	tests.SkipSlow(t)
	for nth, name := range slices.Sorted(maps.Keys(sizedOperators)) {
		o := sizedOperators[name]
		sizes := slices.Clone(o.sizes)
		for i, n := range sizes {
			if tests.Light() && n >= 512 && nth%4 != 0 {
				sizes[i] = n / 4
			}
		}
		for mode, opts := range [][]Option{nil, {Numerics(numerics.M1)}} {
			t.Run(fmt.Sprint(name, "/", mode), func(t *testing.T) {
				if mode != 0 {
					tests.Heavy(t, "each operator in each arithmetic")
				}
				effortOf(t, o.text(sizes), o.unfolded, func(r runner) runner {
					_, some := r.(*updater)
					return &parted{runner: r, t: t, some: some}
				}, opts...)
			})
		}
	}
}

// TestChecksOfLongLines: a step whose only item is long checks its context within it, and not at each element.
func TestChecksOfLongLines(t *testing.T) {
	const n = 1 << 13
	wide := []int{2 * mostWidth} // nothing is computed ahead
	ones := strings.Repeat("1, ", n-1) + "1"
	mask := "tensor<uint1, [{a}]> m = const()[val = tensor<uint1, [{a}]>([" + ones + "])];\n"
	data := strings.ReplaceAll(strings.Replace(mask, " m ", " d ", 1), "uint1", "fp16")
	integers, indices := strings.ReplaceAll(data, "fp16", "int8"), strings.Replace(mask, " m ", " d ", 1)
	for name, o := range map[string]sized{
		"resize": {params: "tensor<fp16, [1, 1, 1, 32]> x", body: "tensor<fp16, [1, 1, 1, {a}]> y = resize_bilinear(x = x, " +
			"target_size_height = int32(1), target_size_width = int32({a}));"},
		"resize nearest": {params: "tensor<fp16, [1, 1, 1, 32]> x", body: "tensor<fp16, [1, 1, 1, {a}]> y = " +
			"resize_nearest_neighbor(x = x, target_size_height = int32(1), target_size_width = int32({a}));",
			sizes: wide},
		"crop_resize": {params: "tensor<fp16, [1, 1, 4, 4]> x, tensor<fp16, [1, 4]> b", body: "tensor<fp16, " +
			"[1, 1, 1, {a}]> y = crop_resize(x = x, boxes = b, target_height = int32(1), target_width = int32({a}));"},
		"cumsum": {params: "tensor<fp16, [1, {a}]> x", body: "tensor<fp16, [1, {a}]> y = cumsum(x = x, axis = int32(1));"},
		"constexpr_sparse_to_dense": {params: "tensor<fp16, [32]> x", unfolded: true, body: mask + data +
			"tensor<fp16, [{a}]> y = constexpr_sparse_to_dense(nonzero_data = d, mask = m);"},
		"constexpr_sparse_blockwise_shift_scale": {params: "tensor<fp16, [32]> x", unfolded: true, body: mask + integers +
			"tensor<uint1, [{a}]> z, tensor<fp16, [{a}]> y = constexpr_sparse_blockwise_shift_scale(data_mask = m, " +
			"nonzero_data = d, scale = tensor<fp16, [1]>([2]));"},
		"constexpr_lut_to_sparse": {params: "tensor<fp16, [32]> x", unfolded: true, body: mask + indices +
			"tensor<uint1, [{a}]> z, tensor<fp16, [{a}]> y = constexpr_lut_to_sparse(indices_mask = m, " +
			"indices_nonzero_data = d, lut = tensor<fp16, [1, 2, 1]>([2, 3]));"},
	} {
		t.Run(name, func(t *testing.T) {
			sizes := append(o.sizes, n)
			e := effortOf(t, o.text(sizes), o.unfolded, nil)
			require.Greater(t, e.checks, sizes[0]/chunk/4)
			require.Less(t, e.checks, sizes[0]/64)
			require.GreaterOrEqual(t, e.work, sizes[0])
		})
	}
}

// TestChecksOfChunks: a step of twice as many chunks checks its context twice as often.
func TestChecksOfChunks(t *testing.T) {
	for _, name := range []string{"tanh", "tanh 32", "abs int", "add 32", "cast", "logical_not", "greater",
		"greater int",
		"select", "fill_like", "range_1d", "quantize", "dequantize", "random_uniform", "clip", "prelu"} {
		o := sizedOperators[name]
		sizes := slices.Clone(o.sizes)
		once := effortOf(t, o.text(sizes), o.unfolded, nil)
		sizes[0] *= 2
		twice := effortOf(t, o.text(sizes), o.unfolded, nil)
		require.NotZero(t, once.checks, name)
		require.Equal(t, 2*once.checks, twice.checks, name)
	}
}
