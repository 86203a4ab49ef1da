package build

import (
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// GeluMode is the formula of Gelu.
type GeluMode string

// The modes of Gelu.
const (
	GeluExact   GeluMode = ops.GeluExact   // the default
	GeluTanh    GeluMode = ops.GeluTanh    // by tanh
	GeluSigmoid GeluMode = ops.GeluSigmoid // x * sigmoid(1.702 x)
)

func (m GeluMode) set(c *call) { c.put("mode", string(m)) }

// Gelu returns the Gaussian error linear unit. The last of several modes applies.
func (f *Func) Gelu(x Value, mode ...GeluMode) Value { return f.plain("gelu", x, each(mode)) }

// TransposeX swaps the last two axes of x.
type TransposeX bool

// TransposeY swaps the last two axes of y.
type TransposeY bool

func (t TransposeX) set(c *call) { c.put("transpose_x", bool(t)) }
func (t TransposeY) set(c *call) { c.put("transpose_y", bool(t)) }

// Matmul multiplies the matrices in the last two axes; the axes before broadcast. A vector x is one row, a vector y one
// column; the result has no axis for it.
func (f *Func) Matmul(x, y Value, options ...Optional) Value { return f.plain("matmul", x, y, options) }

// Bias is added by Linear and ConvTranspose, one number for each output.
type Bias Value

func (b Bias) set(c *call) { c.put("bias", Value(b)) }

// Linear returns x multiplied by the transposed weight [outputs, inputs], along the last axis of x.
func (f *Func) Linear(x, weight Value, options ...Optional) Value {
	return f.plain("linear", x, weight, options)
}

// Einsum sums products of the elements of x and y as the equation says. "nchw,nwhu->nchu" names the axes of x, of y and
// of the result by letters. Einsum sums over letters that the result does not have. Only that equation, and the same
// without n, are known to run on Apple's engine.
func (f *Func) Einsum(equation string, x, y Value) Value {
	return f.plain("einsum", []Value{x, y}, equation)
}

// AttnMask is added to the scores [.., L, S], to which it broadcasts; a mask of bool excludes elements that are false.
// Apple's engine is reported to ignore it.
type AttnMask Value

func (m AttnMask) set(c *call) { c.put("attn_mask", Value(m)) }

// ScaledDotProductAttention returns softmax(query x transposed key / sqrt(E)) x value for query [.., L, E],
// key [.., S, E] and value [.., S, EV].
func (f *Func) ScaledDotProductAttention(query, key, value Value, options ...Optional) Value {
	return f.plain("scaled_dot_product_attention", query, key, value, options)
}

// Gamma is the factor of normalized values: for LayerNorm of the shape of the axes, for BatchNorm and InstanceNorm one
// number for each channel. The default is 1.
type Gamma Value

// Beta is added after the multiplication by Gamma, of the same shape. The default is 0.
type Beta Value

// Epsilon is added to the variance, by L2Norm to the sum of squares. The default is 1e-5, that of L2Norm 1e-6.
type Epsilon float64

func (g Gamma) set(c *call)   { c.put("gamma", Value(g)) }
func (b Beta) set(c *call)    { c.put("beta", Value(b)) }
func (e Epsilon) set(c *call) { c.put("epsilon", float64(e)) }

// LayerNorm scales x to a mean of 0 and a variance of 1 over axes.
func (f *Func) LayerNorm(x Value, axes []int, options ...Optional) Value {
	return f.plain("layer_norm", x, nil, nil, axes, options)
}

// BatchNorm subtracts mean from x [N, C, ..] and divides by the square root of variance; both have one number for each
// channel.
func (f *Func) BatchNorm(x, mean, variance Value, options ...Optional) Value {
	return f.plain("batch_norm", x, mean, variance, options)
}

// InstanceNorm scales each channel of each image of x [N, C, ..] to a mean of 0 and a variance of 1.
func (f *Func) InstanceNorm(x Value, options ...Optional) Value {
	return f.plain("instance_norm", x, options)
}

// L2Norm divides x by the square root of the sum of squares over its last three axes.
func (f *Func) L2Norm(x Value, options ...Optional) Value { return f.plain("l2_norm", x, options) }

// LocalResponse holds the settings of LocalResponseNorm.
type LocalResponse struct {
	Size           int     // channels of a neighborhood
	Alpha, Beta, K float64 // usually 1e-4, 0.75 and 1
}

// LocalResponseNorm divides each element of x [N, C, ..] by (K + Alpha/Size * sum)^Beta, where sum is that of the
// squares of the channels at a distance of up to Size/2.
func (f *Func) LocalResponseNorm(x Value, r LocalResponse) Value {
	return f.plain("local_response_norm", x, r.Size, r.Alpha, r.Beta, r.K)
}

// KeepDims keeps the reduced axes with length 1, instead of dropping them.
type KeepDims bool

// IndexType is the type of indexes: int32, the default, or uint16.
type IndexType mil.DType

func (k KeepDims) set(c *call) { c.put("keep_dims", bool(k)) }

func (t IndexType) set(c *call) {
	name := "output_dtype"
	if c.kind == "topk" {
		name = "output_indices_dtype"
	}
	c.put(name, mil.DType(t))
}

// ReduceArgmax returns the index of the maximum along axis. Of equal elements it returns one, the software engine the
// first. Apple's engine is known to refuse it.
func (f *Func) ReduceArgmax(x Value, axis int, options ...Optional) Value {
	return f.plain("reduce_argmax", x, axis, options)
}

// ReduceArgmin returns the index of the minimum along axis, like ReduceArgmax.
func (f *Func) ReduceArgmin(x Value, axis int, options ...Optional) Value {
	return f.plain("reduce_argmin", x, axis, options)
}

// fold writes an operator over axes, or over all axes, the default, if the list is empty.
func (f *Func) fold(kind string, x Value, axes []int, options []Optional) Value {
	if len(axes) == 0 {
		return f.plain(kind, x, options)
	}
	return f.plain(kind, x, axes, options)
}
