package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
)

// accepted lists published operators that run on some road, for spelling; the table of package ops has more.
var accepted = []string{
	"abs", "add", "affine", "atan", "avg_pool", "batch_norm", "cast", "ceil", "clamped_relu", "clip", "concat", "const",
	"constexpr_affine_dequantize", "constexpr_blockwise_shift_scale", "constexpr_cast", "constexpr_lut_to_dense",
	"constexpr_lut_to_sparse", "constexpr_sparse_to_dense", "constexpr_sparse_blockwise_shift_scale", "conv",
	"conv_transpose", "coreml_update_state", "cos", "crop", "depth_to_space", "dequantize", "einsum", "elu", "equal",
	"erf",
	"exp", "exp2", "expand_dims", "fill", "fill_like", "flatten2d", "floor", "floor_div", "gelu", "greater",
	"greater_equal",
	"identity", "instance_norm", "inverse", "l2_norm", "l2_pool", "layer_norm", "leaky_relu", "less", "less_equal",
	"linear",
	"linear_activation", "local_response_norm", "log", "logical_not", "matmul", "max_pool", "maximum", "minimum", "mul",
	"not_equal", "pad", "pixel_shuffle", "pixel_unshuffle", "pow", "prelu", "quantize", "read_state", "real_div",
	"reduce_l1_norm", "reduce_l2_norm", "reduce_log_sum", "reduce_log_sum_exp", "reduce_max", "reduce_mean",
	"reduce_min",
	"reduce_sum", "reduce_sum_square", "relu", "relu6", "reshape", "resize", "resize_bilinear",
	"resize_nearest_neighbor",
	"reverse", "round", "rsqrt", "scaled_dot_product_attention", "scaled_tanh", "select", "sigmoid", "sigmoid_hard",
	"sign",
	"silu", "sin", "slice_by_index", "slice_by_size", "softmax", "softplus", "softplus_parametric", "softsign",
	"space_to_batch", "batch_to_space", "space_to_depth", "split", "sqrt", "square", "squeeze", "stack", "sub", "tanh",
	"threshold", "thresholded_relu", "tile", "topk", "transpose", "upsample_bilinear", "upsample_nearest_neighbor",
	"write_state",
}

// refusal says which roads do not take an operator.
type refusal struct {
	memory, e5 verdict
	cpu        bool   // Core ML runs it on the CPU
	instead    string // what to write
}

// verdict says how far a refusal reaches.
type verdict uint8

const (
	taken   verdict = iota
	some            // refused on the chip where it was tried, taken by the compilers of others
	refused         // on every chip
)

// refusals holds the operators that some road does not take.
var refusals = func() map[string]refusal {
	m := map[string]refusal{}
	both := func(cpu bool, instead string, names ...string) {
		for _, n := range names {
			m[n] = refusal{refused, refused, cpu, instead}
		}
	}
	both(true, "write x - y * floor(x / y)", "mod")
	both(false, "multiply by -1", "neg")
	both(true, "compute it on the host", "tan", "asin", "acos", "sinh", "cosh", "atanh", "asinh", "acosh")
	both(true, "write exp of a sum of logarithms", "reduce_prod")
	both(true, "return the scores and choose on the host", "reduce_argmax", "reduce_argmin", "argsort")
	both(true, "multiply by a triangular matrix", "cumsum")
	both(true, "gather on the host, or multiply by a one-hot matrix", "gather_along_axis", "gather_nd", "scatter",
		"scatter_along_axis", "scatter_nd", "one_hot", "non_zero", "slice_update")
	m["gather"] = refusal{some, some, false, "slice, or multiply by a one-hot matrix"}
	both(true, "multiply by a constant mask", "band_part")
	both(true, "unfold with slices", "sliding_windows", "crop_resize", "non_maximum_suppression")
	both(true, "compute it on the host", "while_loop", "cond", "lstm", "gru", "rnn", "range_1d", "list_gather",
		"list_length", "list_read", "list_scatter", "list_write", "make_list", "shape")
	both(true, "make the numbers on the host", "random_bernoulli", "random_categorical", "random_normal",
		"random_uniform")
	for _, n := range []string{"logical_and", "logical_or", "logical_xor"} {
		m[n] = refusal{some, some, false, "multiply, or take the maximum of, 0 and 1"}
	}
	for _, n := range []string{"sin", "cos", "batch_norm", "instance_norm", "max_pool", "avg_pool", "l2_pool"} {
		m[n] = refusal{some, taken, false, ""}
	}
	m["batch_norm"] = refusal{some, taken, false, "fold it into the convolution before it"}
	m["instance_norm"] = refusal{some, taken, false, "write it with reduce_mean, sub, mul and rsqrt"}
	m["avg_pool"] = refusal{some, taken, false, "use a convolution with equal weights, one group for each channel"}
	m["max_pool"] = refusal{some, taken, false, "take the maximum of slices"}
	m["identity"] = refusal{taken, some, false, "multiply by one"}
	return m
}()

// operatorRules are about what operators a road and a chip take.
func operatorRules() []Rule {
	return []Rule{
		{ID: "refused-operator", Severity: Error, each: true, Roads: engineRoads,
			Title:  "The road does not take an operator.",
			Reason: "The compiler refuses the program.", Fix: "use other operators",
			Source: "ironmill, on M3 Pro in memory (M); forge, on M5 by E5 (M); study, compiles for h16g and h18g (C)",
			check:  checkRefused},
		{ID: "trigonometry", Severity: Error, each: true, placed: true,
			Title:  "A program for M1 or M2 uses sin or cos.",
			Reason: "The chip has no table for them.", Fix: "compute it on the host, or as a polynomial",
			Source: "guide (D)",
			check:  checkTrig},
		{ID: "topk", Severity: Error, each: true, Title: "topk runs on a chip whose compiler refuses it.",
			Reason: "The compiler for h16g refuses it (rc 22), and through Core ML it costs 6 to 10 ms on M4.",
			Fix:    "return the scores and choose on the host", Source: "study (C, M)", check: checkTopK},
		{ID: "tile-poison", Severity: Error, each: true, Fixable: true, Roads: []chip.Road{chip.InMemory},
			Title: "A program has tile.",
			Reason: "On an M3 Max every later evaluate of the process fails with 0x1d until it exits, also of other " +
				"programs, even if the tile is not used.",
			Fix: "use concat, or copy on the host", Source: "field guide, on M3 Max (M)", check: checkPoison},
		{ID: "only-views", Severity: Error, Roads: engineRoads, placed: true,
			Title:  "A program does nothing but reshape, slice or tile.",
			Reason: "The compiler answers ANECCompile() FAILED.", Fix: "multiply by one",
			Source: "ironmill (M); tmc runs a lone tile (M)", check: checkViews},
		{ID: "slow-bridge", Severity: Warning, each: true, Title: "An operator runs as a bridge of 20 to 140 ms.",
			Reason: "On M5 the engine hands these operators over at every call.", Fix: "compute it on the host",
			Source: "forge, on M5 (M)", check: checkBridge},
		{ID: "contested-operator", Severity: Note, Roads: engineRoads,
			Title:  "Projects disagree on whether an operator compiles.",
			Reason: "One or two met ANECCompile() FAILED, others run it.",
			Fix:    "have the fallback ready that the message names",
			Source: "Espresso, rane against orion, maderix, ironmill; qwen-ane, on M5 Max (M)", check: checkContested},
	}
}

// fixedIndices reports whether the indices of a gather are constant.
func fixedIndices(s *stmt) bool {
	v := s.in("indices")
	return v != nil && v.folded
}

func checkRefused(c *check) {
	c.each(func(_ *function, s *stmt) {
		r, ok := refusals[s.Kind]
		if !ok {
			return
		}
		reach, tried := r.memory, chip.M3
		if c.road == chip.E5 {
			reach, tried = r.e5, chip.M5
		}
		if s.Kind == "gather" && !fixedIndices(s) {
			reach = refused
		}
		switch {
		case reach == refused || reach == some && c.on(tried):
			c.error(s.Pos, r.instead, "%s is refused on the road %v", s.Kind, c.road)
		case reach == some:
			c.warn(s.Pos, r.instead, "%s is refused on the road %v by %v, where it was tried", s.Kind, c.road, tried)
		}
	})
}

func checkTrig(c *check) {
	if c.spec.Trigonometry.Value {
		return
	}
	c.kinds(func(s *stmt) { c.error(s.Pos, "", "%s", s.Kind) }, "sin", "cos")
}

func checkTopK(c *check) {
	ok := c.spec.TopK
	c.kinds(func(s *stmt) {
		switch {
		case ok.Value:
		case c.road == chip.CoreML && c.on(chip.M4):
			c.warn(s.Pos, "", "topk costs 6 to 10 ms on M4")
		case c.road == chip.CoreML:
		case ok.Known():
			c.error(s.Pos, "", "topk is refused")
		default:
			c.warn(s.Pos, "", "topk is not known to compile")
		}
	}, "topk")
}

func checkPoison(c *check) {
	c.kinds(func(s *stmt) {
		edits := c.untiled(s)
		if c.on(chip.M3) {
			c.fixed(edits).error(s.Pos, "", "tile makes every later evaluate of the process fail")
			return
		}
		c.fixed(edits).warn(s.Pos, "", "tile makes every later evaluate of the process fail on an M3 Max")
	}, "tile")
}

// maxCopies is the largest number of operands that a tile is replaced with.
const maxCopies = 64

// untiled replaces a tile with a concat for each axis that it repeats; nil if the text does not show how.
func (r *run) untiled(s *stmt) []Edit {
	x, out := s.in("x"), s.result()
	reps, ok := s.ints("reps")
	if r.text == nil || !ok || x == nil || out == nil || !x.fixed || !out.fixed || len(reps) != len(x.shape) ||
		len(s.out) != 1 {
		return nil
	}
	ref, named := s.arg("x").source.(mil.Ref)
	start, ok := r.text.offset(s.Results[0].Pos)
	from, to, found := r.text.callOf(s.Op)
	if !named || !ok || !found || start > from || strings.Contains(r.text.src[start:from], "(") {
		return nil
	}
	var axes []int
	for i, n := range reps {
		if n < 1 || n > maxCopies {
			return nil
		}
		if n > 1 {
			axes = append(axes, i)
		}
	}
	if len(axes) == 0 {
		return []Edit{{from, to, fmt.Sprintf("concat(axis = %s, interleave = %s, values = (%s))", r.scalar(mil.Int32,
			"0"),
			r.scalar(mil.Bool, "false"), ref.Name)}}
	}
	var before strings.Builder
	shape, name := slices.Clone(x.shape), ref.Name
	for i, axis := range axes {
		shape[axis] *= reps[axis]
		call := fmt.Sprintf("concat(axis = %s, interleave = %s, values = (%s))", r.scalar(mil.Int32, fmt.Sprint(axis)),
			r.scalar(mil.Bool, "false"), strings.TrimSuffix(strings.Repeat(name+", ", reps[axis]), ", "))
		if i == len(axes)-1 {
			edits := []Edit{{from, to, call}}
			if before.Len() > 0 {
				edits = append([]Edit{{start, start, before.String()}}, edits...)
			}
			return edits
		}
		name = out.name + "_" + fmt.Sprint(axis)
		for !r.unused(name) {
			name += "_"
		}
		fmt.Fprintf(&before, "%v %s = %s[name = %s];\n        ", mil.TensorOf(x.dtype, shape...), name, call,
			r.scalar(mil.String, `"`+name+`"`))
	}
	return nil
}

func checkViews(c *check) {
	for _, f := range c.funcs {
		tiles, other, first := false, false, (*stmt)(nil)
		for _, s := range f.stmts {
			switch {
			case s.Kind == "const" || s.constexpr():
			case !slices.Contains(views, s.Kind) || s.Kind == "identity":
				other = true
			default:
				tiles = tiles || s.Kind == "tile"
				if first == nil {
					first = s
				}
			}
		}
		switch {
		case other || first == nil:
		case tiles:
			c.warn(first.Pos, "", "function %s only moves elements", cut(f.Name))
		default:
			c.error(first.Pos, "", "function %s only moves elements", cut(f.Name))
		}
	}
}

func checkBridge(c *check) {
	if !c.on(chip.M5) {
		return
	}
	c.kinds(func(s *stmt) { c.warn(s.Pos, "", "%s takes 20 to 140 ms", s.Kind) }, "sort", "argsort", "topk",
		"cross_correlation",
		"minmax_norm", "space_to_batch", "batch_to_space")
}

func checkContested(c *check) {
	instead := map[string]string{
		"reduce_mean":                     "reduce_sum and a multiplication run everywhere",
		"constexpr_affine_dequantize":     "weights as fp16 run everywhere",
		"constexpr_blockwise_shift_scale": "weights as fp16 run everywhere",
		"stack":                           "reshape and concat run on other machines",
		"rsqrt":                           "pow with the exponent -0.5 runs where rsqrt was refused",
		"l2_norm":                         "mul, reduce_sum and pow run where l2_norm was refused",
	}
	c.each(func(_ *function, s *stmt) {
		if fix, ok := instead[s.Kind]; ok {
			c.note(s.Pos, fix, "%s is refused in some projects", s.Kind)
		}
	})
}
