// Package kernels computes the operators. A Kernel prepares one Step from the shapes, settings and constants of its
// operands. It returns the runner that all runs of the step share. A kernel knows no program.
package kernels

import (
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/detect"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/ops"
)

// Arith is the arithmetic of a step, and of a plan before of picks that of each step.
type Arith struct {
	Operand numerics.Rules // of the halves that the step reads
	Tables  *halves.Tables
	Result  numerics.Rules // of those that it writes
	Only    int            // element that a product computes, counted from 1; 0 for all
	Apart   bool           // no steps are fused
	Words   bool           // packed weights may multiply words, lines be added in any order: see package buildinfo
}

// Of returns the arithmetic of an operator.
func (a Arith) Of(op string) Arith {
	a.Result = a.Operand
	switch {
	case op == "cast": // by the host, not in the engine
		a.Operand, a.Result = 0, 0
	case strings.HasPrefix(op, "constexpr_"): // weights are expanded to fp16, rounded as the chip rounds
		a.Operand, a.Result = 0, a.Result&numerics.HalfAway
	case strings.HasPrefix(op, "reduce_") && a.Operand.Has(numerics.ReduceAway):
		a.Result |= numerics.HalfAway
	}
	return a
}

// Step is one operation with its operands and results, as a kernel prepares it.
type Step struct {
	Op      string // the operator's name
	Name    string // of the first result
	Attrs   any
	Packed  *PackedAttrs // of the weight that stays packed, or nil
	In, Out []*Tensor
	Arith   Arith
	Decode  *int // the float32s that newOperand may still decode ahead
}

// Tensor is an operand or a result.
type Tensor struct {
	DType    mil.DType
	Shape    []int
	Given    bool // false for an optional operand that is omitted
	Constant bool
	Data     run.Vec   // elements of a constant
	Stored   bool      // data has integers below 8 bits without gaps
	Ahead    []float32 // elements of a constant, decoded by newOperand
}

// Kernel prepares one step. It reads shapes, settings and constants, none of which change any more, and returns the
// runner and the float32s of workspace that each worker needs.
type Kernel func(s *Step) (run.Runner, int)

// Make lets a kernel prepare the step. A product, and a slice that begins inside the last axis, are those of a chip
// where its rules say so.
func (s *Step) Make(k Kernel) (run.Runner, int) {
	r, work := k(s)
	if p, ok := r.(*product); ok {
		return s.imitate(p, work)
	}
	a, sliced := s.Attrs.(ops.Slice)
	if sliced && s.Op != "slice_update" && !a.Moving && s.chip().Has(numerics.SliceTimes16) &&
		a.Begin[len(a.Begin)-1] != 0 {
		return &slicedInside{r}, work
	}
	return r, work
}

// chip returns the rules of a step whose result is computed by those of a chip, or 0.
func (s *Step) chip() numerics.Rules {
	if len(s.Out) == 0 || s.Out[0].DType != mil.FP16 {
		return 0
	}
	return s.Arith.Operand
}

// inSteps reports whether attention and recurrent operators are sequences of operators.
func inSteps(r numerics.Rules) bool { return r&sumRules != 0 || r.Has(numerics.Steps|numerics.Tables) }

// imitate returns the runner of a product that a chip computes in another way.
func (s *Step) imitate(p *product, work int) (run.Runner, int) {
	r := s.chip()
	_, integers := s.Attrs.(ByteWindow)
	if r == 0 || !integers && (!s.readsHalves(0) || !s.readsHalves(1) || r&sumRules == 0) {
		return p, work
	}
	p.only = s.Arith.Only
	if !integers && p.only == 0 {
		p = exchanged(p)
	}
	p.imitate(r, integers)
	return p, p.room()
}

// slicedInside is a slice that begins inside the last axis of a tensor of the M1.
type slicedInside struct{ run.Runner }

func (r *slicedInside) Run(c *run.Call) {
	r.Runner.Run(c)
	out := &c.Out[0]
	for i, h := range out.Half {
		if i%(64*run.Chunk) == 0 && c.Pause(0) {
			return
		}
		out.Half[i] = out.Rules.SliceInside(h)
	}
}

// key names a function with its settings.
func (s *Step) key() string { return fmt.Sprintf("%s %#v %d", s.Op, s.Attrs, s.Arith.Operand) }

// IsElementwise reports whether the runner of an operator will be elementwise.
func IsElementwise(op string) bool {
	switch op {
	case "cast", "prelu", "softplus_parametric", "select":
		return true
	}
	return intOps[op] != nil || functions[op] != nil
}

// Of returns the kernel of an operator.
func Of(op string) Kernel {
	switch {
	case functions[op] != nil:
		return unary
	case intOps[op] != nil:
		return binary
	}
	return kernels[op]
}

// kernels holds the kernel of every operator that is not a view, besides those of functions and of intOps.
var kernels = map[string]Kernel{
	"greater": compare, "greater_equal": compare, "less": compare, "less_equal": compare, "equal": compare,
	"not_equal": compare, "logical_and": logical, "logical_or": logical, "logical_xor": logical, "select": choose,
	"cast": cast, "constexpr_cast": cast, "quantize": quantize, "dequantize": shiftScale,
	"constexpr_affine_dequantize": shiftScale, "constexpr_blockwise_shift_scale": shiftScale,
	"constexpr_lut_to_dense": lutToDense, "constexpr_sparse_to_dense": sparseToDense,
	"constexpr_lut_to_sparse": lutToSparse, "constexpr_sparse_blockwise_shift_scale": sparseShiftScale,
	"prelu": prelu, "softplus_parametric": softplusParametric, "logical_not": logicalNot,

	"reduce_sum": reduce, "reduce_mean": reduce, "reduce_max": reduce, "reduce_min": reduce,
	"reduce_prod": reduce, "reduce_l1_norm": reduce, "reduce_l2_norm": reduce, "reduce_log_sum": reduce,
	"reduce_sum_square": reduce, "reduce_log_sum_exp": logSumExp, "reduce_argmax": indexOf, "reduce_argmin": indexOf,

	"softmax": softmax, "layer_norm": norm, "batch_norm": norm, "instance_norm": norm, "l2_norm": norm,
	"local_response_norm": localNorm,

	"matmul": matmul, "linear": linear, "einsum": einsum, "scaled_dot_product_attention": attention,

	"lstm": recurrent, "gru": recurrent, "rnn": recurrent,

	"conv": conv, "conv_transpose": conv,

	"upsample_nearest_neighbor": resize, "upsample_bilinear": resize, "resize_nearest_neighbor": resize,
	"resize_bilinear": resize, "resize": resize, "crop_resize": cropResize, "affine": affineTransform,
	"resample": resample,

	"max_pool": pool, "avg_pool": pool, "l2_pool": pool,
	"transpose": transpose, "concat": join, "split": join,
	"slice_by_index": slice, "slice_by_size": slice, "pad": pad,
	"gather": gatherRows, "gather_nd": gatherRows, "gather_along_axis": gatherAlongAxis, "scatter": scatterRows,
	"scatter_nd": scatterRows, "scatter_along_axis": scatterRows, "topk": topK, "argsort": topK,
	"random_uniform": random, "random_normal": random, "random_bernoulli": random, "random_categorical": random,
	"read_state": Copy, "write_state": Copy, "coreml_update_state": Copy,
	"slice_update": slice, "shape": known, "non_zero": known, "fill": constantFill, "fill_like": constantFill,
	"range_1d": rangeOf, "band_part": band, "one_hot": oneHot, "cumsum": cumsum,
	"tile": pick, "reverse": pick, "crop": pick, "sliding_windows": pick,
	"depth_to_space": pick, "space_to_depth": pick, "pixel_shuffle": pick, "pixel_unshuffle": pick,
	"space_to_batch": blocks, "batch_to_space": blocks, "stack": join, "reverse_sequence": reverseSequence,
	"list_read": gatherRows, "list_gather": gatherRows, "list_write": scatterRows, "list_scatter": scatterRows,
	"make_list": constantFill, "list_length": known,
	"non_maximum_suppression": func(s *Step) (run.Runner, int) {
		return detect.Suppress(s.Attrs.(ops.Suppression), s.In[0].Shape, s.In[1].Shape)
	},
	"classify": func(s *Step) (run.Runner, int) { return detect.Classify(s.In[0].len()), 0 },
}
