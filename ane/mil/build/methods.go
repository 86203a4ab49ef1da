// Code generated from the table of package ops by go test ./ane/mil/build -run Generated -update; DO NOT EDIT.

package build

import "github.com/anekit/anekit/ane/mil"

// Abs returns the magnitude.
func (f *Func) Abs(x Value) Value { return f.plain("abs", x) }

// Acos returns the inverse of Cos. In memory an M3 Pro refuses it, and by e5 an M5.
func (f *Func) Acos(x Value) Value { return f.plain("acos", x) }

// Acosh returns the inverse of Cosh.
func (f *Func) Acosh(x Value) Value { return f.plain("acosh", x) }

// Add returns x + y.
func (f *Func) Add(x, y Value) Value { return f.plain("add", x, y) }

// Argsort returns the indices of the elements along axis, the greatest first unless ascending. In memory an M3 Pro
// refuses it, and by e5 an M5.
func (f *Func) Argsort(x Value, axis int, ascending bool) Value {
	return f.plain("argsort", x, axis, ascending)
}

// Asin returns the inverse of Sin. In memory an M3 Pro refuses it, and by e5 an M5.
func (f *Func) Asin(x Value) Value { return f.plain("asin", x) }

// Asinh returns the inverse of Sinh.
func (f *Func) Asinh(x Value) Value { return f.plain("asinh", x) }

// Atan returns the inverse of Tan.
func (f *Func) Atan(x Value) Value { return f.plain("atan", x) }

// Atanh returns the inverse of Tanh. In memory an M3 Pro refuses it, and by e5 an M5.
func (f *Func) Atanh(x Value) Value { return f.plain("atanh", x) }

// BandPart keeps lower diagonals below the main one and upper above it, of each matrix, and clears the others.
// A negative number keeps all. In memory an M3 Pro refuses it, and by e5 an M5.
func (f *Func) BandPart(x Value, lower, upper int) Value {
	return f.plain("band_part", x, lower, upper)
}

// Cast converts x to elements of type dtype.
func (f *Func) Cast(x Value, dtype mil.DType) Value { return f.plain("cast", x, dtype) }

// Ceil rounds up to a whole number.
func (f *Func) Ceil(x Value) Value { return f.plain("ceil", x) }

// ClampedRelu returns min(x, beta), below zero min(alpha * x, beta).
func (f *Func) ClampedRelu(x Value, alpha, beta float64) Value {
	return f.plain("clamped_relu", x, alpha, beta)
}

// Clip returns min(max(x, alpha), beta).
func (f *Func) Clip(x Value, alpha, beta float64) Value { return f.plain("clip", x, alpha, beta) }

// ConstexprAffineDequantize returns scale * (quantizedData - zeroPoint). Those two are numbers, or vectors along axis.
func (f *Func) ConstexprAffineDequantize(quantizedData, scale, zeroPoint Value, axis int) Value {
	return f.plain("constexpr_affine_dequantize", quantizedData, scale, zeroPoint, axis)
}

// ConstexprCast returns a constant of floating-point type as elements of type outputDtype.
func (f *Func) ConstexprCast(sourceVal Value, outputDtype mil.DType) Value {
	return f.plain("constexpr_cast", sourceVal, outputDtype)
}

// CoremlUpdateState is WriteState and ReadState in one: it returns value.
func (f *Func) CoremlUpdateState(state, value Value) Value {
	return f.plain("coreml_update_state", state, value)
}

// Cos returns the cosine of an angle in radians.
func (f *Func) Cos(x Value) Value { return f.plain("cos", x) }

// Cosh returns the hyperbolic cosine. In memory an M3 Pro refuses it, and by e5 an M5.
func (f *Func) Cosh(x Value) Value { return f.plain("cosh", x) }

// DepthToSpace moves channels to rows and columns of blocks: channel (row*blockSize+column)*C+c becomes channel c of C
// at (row, column) in its block.
func (f *Func) DepthToSpace(x Value, blockSize int) Value {
	return f.plain("depth_to_space", x, blockSize)
}

// Elu returns x, below zero alpha * (exp(x) - 1).
func (f *Func) Elu(x Value, alpha float64) Value { return f.plain("elu", x, alpha) }

// Equal returns x == y.
func (f *Func) Equal(x, y Value) Value { return f.plain("equal", x, y) }

// Erf returns the error function.
func (f *Func) Erf(x Value) Value { return f.plain("erf", x) }

// Exp returns e to the power of x.
func (f *Func) Exp(x Value) Value { return f.plain("exp", x) }

// Exp2 returns 2 to the power of x.
func (f *Func) Exp2(x Value) Value { return f.plain("exp2", x) }

// ExpandDims inserts axes of length 1. axes are their indexes in the result.
func (f *Func) ExpandDims(x Value, axes ...int) Value { return f.plain("expand_dims", x, axes) }

// Flatten2d merges the axes before axis and those from axis on: the result has two axes.
func (f *Func) Flatten2d(x Value, axis int) Value { return f.plain("flatten2d", x, axis) }

// Floor rounds down to a whole number.
func (f *Func) Floor(x Value) Value { return f.plain("floor", x) }

// FloorDiv returns x / y, rounded down to a whole number.
func (f *Func) FloorDiv(x, y Value) Value { return f.plain("floor_div", x, y) }

// Greater returns x > y.
func (f *Func) Greater(x, y Value) Value { return f.plain("greater", x, y) }

// GreaterEqual returns x >= y.
func (f *Func) GreaterEqual(x, y Value) Value { return f.plain("greater_equal", x, y) }

// Identity returns x.
func (f *Func) Identity(x Value) Value { return f.plain("identity", x) }

// Inverse returns 1 / (x + epsilon).
func (f *Func) Inverse(x Value, epsilon float64) Value { return f.plain("inverse", x, epsilon) }

// LeakyRelu returns x, below zero alpha * x.
func (f *Func) LeakyRelu(x Value, alpha float64) Value { return f.plain("leaky_relu", x, alpha) }

// Less returns x < y.
func (f *Func) Less(x, y Value) Value { return f.plain("less", x, y) }

// LessEqual returns x <= y.
func (f *Func) LessEqual(x, y Value) Value { return f.plain("less_equal", x, y) }

// LinearActivation returns alpha * x + beta.
func (f *Func) LinearActivation(x Value, alpha, beta float64) Value {
	return f.plain("linear_activation", x, alpha, beta)
}

// Log returns the natural logarithm of x + epsilon.
func (f *Func) Log(x Value, epsilon float64) Value { return f.plain("log", x, epsilon) }

// LogicalAnd returns x && y.
func (f *Func) LogicalAnd(x, y Value) Value { return f.plain("logical_and", x, y) }

// LogicalNot returns the opposite of truth values.
func (f *Func) LogicalNot(x Value) Value { return f.plain("logical_not", x) }

// LogicalOr returns x || y.
func (f *Func) LogicalOr(x, y Value) Value { return f.plain("logical_or", x, y) }

// LogicalXor returns x != y of truth values.
func (f *Func) LogicalXor(x, y Value) Value { return f.plain("logical_xor", x, y) }

// Maximum returns the larger of x and y.
func (f *Func) Maximum(x, y Value) Value { return f.plain("maximum", x, y) }

// Minimum returns the smaller of x and y.
func (f *Func) Minimum(x, y Value) Value { return f.plain("minimum", x, y) }

// Mod returns x - y * FloorDiv(x, y), which has the sign of y. In memory an M3 Pro refuses it, and by e5 an M5.
func (f *Func) Mod(x, y Value) Value { return f.plain("mod", x, y) }

// Mul returns x * y.
func (f *Func) Mul(x, y Value) Value { return f.plain("mul", x, y) }

// Neg returns -x. In memory an M3 Pro refuses it, and by e5 an M5.
func (f *Func) Neg(x Value) Value { return f.plain("neg", x) }

// NonZero returns the indices of the elements of a constant that are not zero, one in each row. In memory an M3 Pro
// refuses it, and by e5 an M5.
func (f *Func) NonZero(x Value) Value { return f.plain("non_zero", x) }

// NotEqual returns x != y.
func (f *Func) NotEqual(x, y Value) Value { return f.plain("not_equal", x, y) }

// PixelShuffle moves channels to rows and columns of blocks: channel (c*factor+row)*factor+column becomes channel c at
// (row, column) in its block, where factor is upscaleFactor.
func (f *Func) PixelShuffle(x Value, upscaleFactor int) Value {
	return f.plain("pixel_shuffle", x, upscaleFactor)
}

// PixelUnshuffle is the inverse of PixelShuffle.
func (f *Func) PixelUnshuffle(x Value, downscaleFactor int) Value {
	return f.plain("pixel_unshuffle", x, downscaleFactor)
}

// Pow returns x to the power of y.
func (f *Func) Pow(x, y Value) Value { return f.plain("pow", x, y) }

// Prelu returns x, below zero alpha * x. alpha is a vector with a number for each channel, which is axis 1 of x.
func (f *Func) Prelu(x, alpha Value) Value { return f.plain("prelu", x, alpha) }

// ReadState returns the tensor that a state holds at this point of the function.
func (f *Func) ReadState(input Value) Value { return f.plain("read_state", input) }

// RealDiv returns x / y.
func (f *Func) RealDiv(x, y Value) Value { return f.plain("real_div", x, y) }

// ReduceL1Norm sums the magnitudes along axes, or along all axes if the list is empty.
func (f *Func) ReduceL1Norm(x Value, axes []int, options ...Optional) Value {
	return f.fold("reduce_l1_norm", x, axes, options)
}

// ReduceL2Norm returns the square root of the sum of squares along axes, or along all axes if the list is empty.
func (f *Func) ReduceL2Norm(x Value, axes []int, options ...Optional) Value {
	return f.fold("reduce_l2_norm", x, axes, options)
}

// ReduceLogSum returns the natural logarithm of the sum along axes, or along all axes if the list is empty.
func (f *Func) ReduceLogSum(x Value, axes []int, options ...Optional) Value {
	return f.fold("reduce_log_sum", x, axes, options)
}

// ReduceLogSumExp returns the natural logarithm of the sum of exponentials along axes, or along all axes if the list is
// empty. Large elements do not overflow.
func (f *Func) ReduceLogSumExp(x Value, axes []int, options ...Optional) Value {
	return f.fold("reduce_log_sum_exp", x, axes, options)
}

// ReduceMax returns the maximum along axes, or along all axes if the list is empty.
func (f *Func) ReduceMax(x Value, axes []int, options ...Optional) Value {
	return f.fold("reduce_max", x, axes, options)
}

// ReduceMean returns the mean over axes, or over all axes if the list is empty.
func (f *Func) ReduceMean(x Value, axes []int, options ...Optional) Value {
	return f.fold("reduce_mean", x, axes, options)
}

// ReduceMin returns the minimum along axes, or along all axes if the list is empty.
func (f *Func) ReduceMin(x Value, axes []int, options ...Optional) Value {
	return f.fold("reduce_min", x, axes, options)
}

// ReduceProd multiplies along axes, or along all axes if the list is empty. In memory an M3 Pro refuses it, and by e5
// an M5.
func (f *Func) ReduceProd(x Value, axes []int, options ...Optional) Value {
	return f.fold("reduce_prod", x, axes, options)
}

// ReduceSum sums over axes, or over all axes if the list is empty.
func (f *Func) ReduceSum(x Value, axes []int, options ...Optional) Value {
	return f.fold("reduce_sum", x, axes, options)
}

// ReduceSumSquare sums the squares along axes, or along all axes if the list is empty.
func (f *Func) ReduceSumSquare(x Value, axes []int, options ...Optional) Value {
	return f.fold("reduce_sum_square", x, axes, options)
}

// Relu returns max(x, 0).
func (f *Func) Relu(x Value) Value { return f.plain("relu", x) }

// Relu6 returns min(max(x, 0), 6).
func (f *Func) Relu6(x Value) Value { return f.plain("relu6", x) }

// ResizeNearestNeighbor gives the last two axes of x new lengths; each element is the one before its place in x.
func (f *Func) ResizeNearestNeighbor(x Value, targetSizeHeight, targetSizeWidth int) Value {
	return f.plain("resize_nearest_neighbor", x, targetSizeHeight, targetSizeWidth)
}

// ReverseSequence reverses the first lengths[i] elements along seqAxis of the part of x that has index i on batchAxis.
// lengths is an integer vector.
func (f *Func) ReverseSequence(x, lengths Value, seqAxis, batchAxis int) Value {
	return f.plain("reverse_sequence", x, lengths, seqAxis, batchAxis)
}

// Round rounds to the nearest whole number, halves to the even one.
func (f *Func) Round(x Value) Value { return f.plain("round", x) }

// Rsqrt returns 1 / sqrt(x + epsilon). fp16 has little precision for an epsilon below about 1e-5.
func (f *Func) Rsqrt(x Value, epsilon float64) Value { return f.plain("rsqrt", x, epsilon) }

// ScaledTanh returns alpha * tanh(beta * x).
func (f *Func) ScaledTanh(x Value, alpha, beta float64) Value {
	return f.plain("scaled_tanh", x, alpha, beta)
}

// Select returns the elements of a where cond is true, those of b elsewhere.
func (f *Func) Select(cond, a, b Value) Value { return f.plain("select", cond, a, b) }

// ShapeOf returns the axis lengths of x, an int32 vector. The compiler knows it: it may stand where a setting is
// needed.
func (f *Func) ShapeOf(x Value) Value { return f.plain("shape", x) }

// Sigmoid returns 1 / (1 + exp(-x)).
func (f *Func) Sigmoid(x Value) Value { return f.plain("sigmoid", x) }

// SigmoidHard returns min(max(alpha * x + beta, 0), 1).
func (f *Func) SigmoidHard(x Value, alpha, beta float64) Value {
	return f.plain("sigmoid_hard", x, alpha, beta)
}

// Sign returns -1, 0 or 1.
func (f *Func) Sign(x Value) Value { return f.plain("sign", x) }

// Silu returns x * sigmoid(x).
func (f *Func) Silu(x Value) Value { return f.plain("silu", x) }

// Sin returns the sine of an angle in radians.
func (f *Func) Sin(x Value) Value { return f.plain("sin", x) }

// Sinh returns the hyperbolic sine. In memory an M3 Pro refuses it, and by e5 an M5.
func (f *Func) Sinh(x Value) Value { return f.plain("sinh", x) }

// SlidingWindows returns all windows of size elements along axis, stride elements apart. The result has the axes window
// and position in place of axis. In memory an M3 Pro refuses it, and by e5 an M5.
func (f *Func) SlidingWindows(x Value, axis, size, stride int) Value {
	return f.plain("sliding_windows", x, axis, size, stride)
}

// Softmax returns exp(x) divided by its sum along axis.
func (f *Func) Softmax(x Value, axis int) Value { return f.plain("softmax", x, axis) }

// Softplus returns log(1 + exp(x)).
func (f *Func) Softplus(x Value) Value { return f.plain("softplus", x) }

// SoftplusParametric returns alpha * log(1 + exp(beta * x)). alpha and beta are vectors with a number for each channel,
// which is axis 1 of x.
func (f *Func) SoftplusParametric(x, alpha, beta Value) Value {
	return f.plain("softplus_parametric", x, alpha, beta)
}

// Softsign returns x / (1 + |x|).
func (f *Func) Softsign(x Value) Value { return f.plain("softsign", x) }

// SpaceToDepth is the inverse of DepthToSpace.
func (f *Func) SpaceToDepth(x Value, blockSize int) Value {
	return f.plain("space_to_depth", x, blockSize)
}

// Sqrt returns the square root.
func (f *Func) Sqrt(x Value) Value { return f.plain("sqrt", x) }

// Square returns x * x.
func (f *Func) Square(x Value) Value { return f.plain("square", x) }

// Sub returns x - y.
func (f *Func) Sub(x, y Value) Value { return f.plain("sub", x, y) }

// Tan returns the tangent of an angle in radians. In memory an M3 Pro refuses it, and by e5 an M5.
func (f *Func) Tan(x Value) Value { return f.plain("tan", x) }

// Tanh returns the hyperbolic tangent.
func (f *Func) Tanh(x Value) Value { return f.plain("tanh", x) }

// TensorBufferToTensor reads a tensor from a buffer.
func (f *Func) TensorBufferToTensor(input Value) Value {
	return f.plain("tensor_buffer_to_tensor", input)
}

// TensorToTensorBuffer puts a tensor into a buffer with strides, in elements, and interleaveFactors for each axis.
func (f *Func) TensorToTensorBuffer(input Value, interleaveFactors []int, strides ...int) Value {
	return f.plain("tensor_to_tensor_buffer", input, interleaveFactors, strides)
}

// Threshold returns max(x, alpha). alpha is a whole number if x has integers.
func (f *Func) Threshold(x Value, alpha float64) Value { return f.plain("threshold", x, alpha) }

// ThresholdedRelu returns x, below alpha 0.
func (f *Func) ThresholdedRelu(x Value, alpha float64) Value {
	return f.plain("thresholded_relu", x, alpha)
}

// Tile repeats x: axis i reps[i] times.
func (f *Func) Tile(x Value, reps ...int) Value { return f.plain("tile", x, reps) }

// Transpose reorders the axes: axis i of the result is axis perm[i] of x.
func (f *Func) Transpose(x Value, perm ...int) Value { return f.plain("transpose", x, perm) }
