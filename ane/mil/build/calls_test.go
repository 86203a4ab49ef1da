package build_test

import (
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
)

// calls has at least one call of every operator, and the statement that it writes, with
// settings in place of their names.
var calls = []struct {
	call func(f *build.Func, v values) build.Value
	want string
}{
	{func(f *build.Func, v values) build.Value { return f.Add(v.x, v.y) },
		"tensor<fp16, [1, 4, 2, 32]> = add(x = x, y = x2)"},
	{func(f *build.Func, v values) build.Value { return f.Sub(v.x, v.half) },
		"tensor<fp16, [1, 4, 2, 32]> = sub(x = x, y = fp16(0x1p-1))"},
	{func(f *build.Func, v values) build.Value { return f.Mul(v.i, v.i) }, "tensor<int32, [2, 3]> = mul(x = i, y = i)"},
	{func(f *build.Func, v values) build.Value { return f.RealDiv(v.half, v.y) },
		"tensor<fp16, [1, 4, 1, 32]> = real_div(x = fp16(0x1p-1), y = x2)"},
	{func(f *build.Func, v values) build.Value { return f.Pow(v.y, v.half) },
		"tensor<fp16, [1, 4, 1, 32]> = pow(x = x2, y = fp16(0x1p-1))"},
	{func(f *build.Func, v values) build.Value { return f.Maximum(v.x, v.x) },
		"tensor<fp16, [1, 4, 2, 32]> = maximum(x = x, y = x)"},
	{func(f *build.Func, v values) build.Value { return f.Minimum(v.x, v.x) },
		"tensor<fp16, [1, 4, 2, 32]> = minimum(x = x, y = x)"},
	{func(f *build.Func, v values) build.Value { return f.Abs(v.i) }, "tensor<int32, [2, 3]> = abs(x = i)"},
	{func(f *build.Func, v values) build.Value { return f.Relu(v.f) }, "tensor<fp32, [2, 3]> = relu(x = f)"},
	{func(f *build.Func, v values) build.Value { return f.Sqrt(v.f) }, "tensor<fp32, [2, 3]> = sqrt(x = f)"},
	{func(f *build.Func, v values) build.Value { return f.Exp(v.f) }, "tensor<fp32, [2, 3]> = exp(x = f)"},
	{func(f *build.Func, v values) build.Value { return f.Sigmoid(v.f) }, "tensor<fp32, [2, 3]> = sigmoid(x = f)"},
	{func(f *build.Func, v values) build.Value { return f.Tanh(v.f) }, "tensor<fp32, [2, 3]> = tanh(x = f)"},
	{func(f *build.Func, v values) build.Value { return f.Silu(v.f) }, "tensor<fp32, [2, 3]> = silu(x = f)"},
	{func(f *build.Func, v values) build.Value { return f.Rsqrt(v.f, 0.25) },
		"tensor<fp32, [2, 3]> = rsqrt(epsilon = fp32(0x1p-2), x = f)"},
	{func(f *build.Func, v values) build.Value { return f.Rsqrt(v.y, 0.25) },
		"tensor<fp16, [1, 4, 1, 32]> = rsqrt(epsilon = fp16(0x1p-2), x = x2)"},
	{func(f *build.Func, v values) build.Value { return f.Gelu(v.f) },
		`tensor<fp32, [2, 3]> = gelu(mode = string("EXACT"), x = f)`},
	{func(f *build.Func, v values) build.Value { return f.Gelu(v.f, build.GeluExact, build.GeluTanh) },
		`tensor<fp32, [2, 3]> = gelu(mode = string("TANH_APPROXIMATION"), x = f)`},
	{func(f *build.Func, v values) build.Value { return f.Ceil(v.x) }, `tensor<fp16, [1, 4, 2, 32]> = ceil(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Floor(v.x) }, `tensor<fp16, [1, 4, 2, 32]> = floor(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Round(v.x) }, `tensor<fp16, [1, 4, 2, 32]> = round(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Sign(v.x) }, `tensor<fp16, [1, 4, 2, 32]> = sign(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Square(v.x) }, `tensor<fp16, [1, 4, 2, 32]> = square(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Exp2(v.x) }, `tensor<fp16, [1, 4, 2, 32]> = exp2(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Erf(v.x) }, `tensor<fp16, [1, 4, 2, 32]> = erf(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Neg(v.x) }, `tensor<fp16, [1, 4, 2, 32]> = neg(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Sin(v.x) }, `tensor<fp16, [1, 4, 2, 32]> = sin(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Cos(v.x) }, `tensor<fp16, [1, 4, 2, 32]> = cos(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Tan(v.x) }, `tensor<fp16, [1, 4, 2, 32]> = tan(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Asin(v.x) }, `tensor<fp16, [1, 4, 2, 32]> = asin(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Acos(v.x) }, `tensor<fp16, [1, 4, 2, 32]> = acos(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Atan(v.x) }, `tensor<fp16, [1, 4, 2, 32]> = atan(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Sinh(v.x) }, `tensor<fp16, [1, 4, 2, 32]> = sinh(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Cosh(v.x) }, `tensor<fp16, [1, 4, 2, 32]> = cosh(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Asinh(v.x) }, `tensor<fp16, [1, 4, 2, 32]> = asinh(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Acosh(v.x) }, `tensor<fp16, [1, 4, 2, 32]> = acosh(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Atanh(v.x) }, `tensor<fp16, [1, 4, 2, 32]> = atanh(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Identity(v.x) },
		`tensor<fp16, [1, 4, 2, 32]> = identity(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Relu6(v.x) }, `tensor<fp16, [1, 4, 2, 32]> = relu6(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Softsign(v.x) },
		`tensor<fp16, [1, 4, 2, 32]> = softsign(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Softplus(v.x) },
		`tensor<fp16, [1, 4, 2, 32]> = softplus(x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Log(v.x, 0.25) },
		`tensor<fp16, [1, 4, 2, 32]> = log(epsilon = fp16(0x1p-2), x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Inverse(v.x, 0.25) },
		`tensor<fp16, [1, 4, 2, 32]> = inverse(epsilon = fp16(0x1p-2), x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Elu(v.x, 0.25) },
		`tensor<fp16, [1, 4, 2, 32]> = elu(alpha = fp16(0x1p-2), x = x)`},
	{func(f *build.Func, v values) build.Value { return f.LeakyRelu(v.x, 0.25) },
		`tensor<fp16, [1, 4, 2, 32]> = leaky_relu(alpha = fp16(0x1p-2), x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Threshold(v.x, 0.25) },
		`tensor<fp16, [1, 4, 2, 32]> = threshold(alpha = fp16(0x1p-2), x = x)`},
	{func(f *build.Func, v values) build.Value { return f.ThresholdedRelu(v.x, 0.25) },
		`tensor<fp16, [1, 4, 2, 32]> = thresholded_relu(alpha = fp16(0x1p-2), x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Threshold(v.i, -3) },
		`tensor<int32, [2, 3]> = threshold(alpha = int32(-3), x = i)`},
	{func(f *build.Func, v values) build.Value { return f.Clip(v.x, 0.25, 2) },
		`tensor<fp16, [1, 4, 2, 32]> = clip(alpha = fp16(0x1p-2), beta = fp16(0x1p+1), x = x)`},
	{func(f *build.Func, v values) build.Value { return f.ClampedRelu(v.x, 0.25, 2) },
		`tensor<fp16, [1, 4, 2, 32]> = clamped_relu(alpha = fp16(0x1p-2), beta = fp16(0x1p+1), x = x)`},
	{func(f *build.Func, v values) build.Value { return f.ScaledTanh(v.x, 0.25, 2) },
		`tensor<fp16, [1, 4, 2, 32]> = scaled_tanh(alpha = fp16(0x1p-2), beta = fp16(0x1p+1), x = x)`},
	{func(f *build.Func, v values) build.Value { return f.SigmoidHard(v.x, 0.25, 2) },
		`tensor<fp16, [1, 4, 2, 32]> = sigmoid_hard(alpha = fp16(0x1p-2), beta = fp16(0x1p+1), x = x)`},
	{func(f *build.Func, v values) build.Value { return f.LinearActivation(v.x, 0.25, 2) },
		`tensor<fp16, [1, 4, 2, 32]> = linear_activation(alpha = fp16(0x1p-2), beta = fp16(0x1p+1), x = x)`},
	{func(f *build.Func, v values) build.Value { return f.Prelu(v.x, v.c) },
		`tensor<fp16, [1, 4, 2, 32]> = prelu(alpha = each, x = x)`},
	{func(f *build.Func, v values) build.Value { return f.SoftplusParametric(v.x, v.c, v.c) },
		`tensor<fp16, [1, 4, 2, 32]> = softplus_parametric(alpha = each, beta = each, x = x)`},
	{func(f *build.Func, v values) build.Value { return f.LogicalNot(v.b) },
		`tensor<bool, [2, 3]> = logical_not(x = truth)`},
	{func(f *build.Func, v values) build.Value { return f.FloorDiv(v.x, v.y) },
		`tensor<fp16, [1, 4, 2, 32]> = floor_div(x = x, y = x2)`},
	{func(f *build.Func, v values) build.Value { return f.Mod(v.x, v.y) },
		`tensor<fp16, [1, 4, 2, 32]> = mod(x = x, y = x2)`},
	{func(f *build.Func, v values) build.Value { return f.Greater(v.y, v.x) },
		`tensor<bool, [1, 4, 2, 32]> = greater(x = x2, y = x)`},
	{func(f *build.Func, v values) build.Value { return f.GreaterEqual(v.y, v.x) },
		`tensor<bool, [1, 4, 2, 32]> = greater_equal(x = x2, y = x)`},
	{func(f *build.Func, v values) build.Value { return f.Less(v.y, v.x) },
		`tensor<bool, [1, 4, 2, 32]> = less(x = x2, y = x)`},
	{func(f *build.Func, v values) build.Value { return f.LessEqual(v.y, v.x) },
		`tensor<bool, [1, 4, 2, 32]> = less_equal(x = x2, y = x)`},
	{func(f *build.Func, v values) build.Value { return f.Equal(v.y, v.x) },
		`tensor<bool, [1, 4, 2, 32]> = equal(x = x2, y = x)`},
	{func(f *build.Func, v values) build.Value { return f.NotEqual(v.y, v.x) },
		`tensor<bool, [1, 4, 2, 32]> = not_equal(x = x2, y = x)`},
	{func(f *build.Func, v values) build.Value { return f.LogicalAnd(v.b, v.b) },
		`tensor<bool, [2, 3]> = logical_and(x = truth, y = truth)`},
	{func(f *build.Func, v values) build.Value { return f.LogicalOr(v.b, v.b) },
		`tensor<bool, [2, 3]> = logical_or(x = truth, y = truth)`},
	{func(f *build.Func, v values) build.Value { return f.LogicalXor(v.b, v.b) },
		`tensor<bool, [2, 3]> = logical_xor(x = truth, y = truth)`},
	{func(f *build.Func, v values) build.Value { return f.Select(v.b, v.i, v.i) },
		`tensor<int32, [2, 3]> = select(a = i, b = i, cond = truth)`},
	{func(f *build.Func, v values) build.Value { return f.Quantize(v.x, v.half, mil.Int8) },
		`tensor<int8, [1, 4, 2, 32]> = quantize(input = x, output_dtype = string("int8"), scale = fp16(0x1p-1))`},
	{func(f *build.Func, v values) build.Value {
		return f.Quantize(v.x, v.c, mil.UInt8, build.Axis(1),
			build.ZeroPoint(f.Const("z", ints(mil.UInt8, 1, 2, 3, 4))))
	}, `tensor<uint8, [1, 4, 2, 32]> = quantize(axis = int32(1), input = x, output_dtype = string("uint8"), scale = each, zero_point = tensor<uint8, [4]>([1, 2, 3, 4]))`},
	{func(f *build.Func, v values) build.Value {
		return f.Dequantize(f.Cast(v.x, mil.Int8), v.c, build.Axis(-3),
			build.ZeroPoint(f.Const("z", ints(mil.Int8, 1, 2, 3, 4))))
	}, `tensor<fp16, [1, 4, 2, 32]> = dequantize(axis = int32(-3), input = cast_0, scale = each, zero_point = tensor<int8, [4]>([1, 2, 3, 4]))`},
	{func(f *build.Func, v values) build.Value { return f.Cast(f.ConstexprCast(v.c, mil.FP32), mil.FP16) },
		`tensor<fp32, [4]> = constexpr_cast(output_dtype = string("fp32"), source_val = each)`},
	{func(f *build.Func, v values) build.Value {
		return f.ConstexprAffineDequantize(f.Const("q", ints(mil.Int8, 1, 2)), v.half,
			f.Const("z", mil.IntScalar(mil.Int8, 1)), 0)
	}, `tensor<fp16, [2]> = constexpr_affine_dequantize(axis = int32(0), quantized_data = tensor<int8, [2]>([1, 2]), scale = fp16(0x1p-1), zero_point = int8(1))`},
	{func(f *build.Func, v values) build.Value {
		return f.ConstexprBlockwiseShiftScale(f.Const("q", ints(mil.Int4, 1, 2, 3, -8)), v.c, build.Offset(v.c))
	}, `tensor<fp16, [4]> = constexpr_blockwise_shift_scale(data = tensor<int4, [4]>([1, 2, 3, -8]), offset = each, scale = each)`},
	{func(f *build.Func, v values) build.Value {
		return f.ConstexprLutToDense(f.Const("q", ints(mil.UInt1, 1, 0)),
			f.Const("lut", mil.Floats(mil.TensorOf(mil.FP16, 1, 2, 1), []float64{1, 2})), build.VectorAxis(0))
	}, `tensor<fp16, [2]> = constexpr_lut_to_dense(indices = tensor<uint1, [2]>([1, 0]), lut = tensor<fp16, [1, 2, 1]>([0x1p+0, 0x1p+1]), vector_axis = int32(0))`},
	{func(f *build.Func, v values) build.Value {
		return f.ConstexprLutToDense(f.Const("q", ints(mil.UInt8, 27)), v.c, build.PackedShape{2, 2})
	}, `tensor<fp16, [2, 2]> = constexpr_lut_to_dense(indices = tensor<uint8, [1]>([27]), lut = each, shape = tensor<uint32, [2]>([2, 2]))`},
	{func(f *build.Func, v values) build.Value {
		return f.ConstexprSparseToDense(v.c, f.Const("m", ints(mil.UInt1, 1, 0, 1, 1, 1)))
	}, `tensor<fp16, [5]> = constexpr_sparse_to_dense(mask = tensor<uint1, [5]>([1, 0, 1, 1, 1]), nonzero_data = each)`},
	{func(f *build.Func, v values) build.Value {
		return f.ConstexprSparseToDense(v.c, f.Const("m", ints(mil.UInt8, 29)), build.PackedShape{5})
	}, `tensor<fp16, [5]> = constexpr_sparse_to_dense(mask = tensor<uint8, [1]>([29]), nonzero_data = each, shape = tensor<uint32, [1]>([5]))`},
	{func(f *build.Func, v values) build.Value {
		m, d := f.ConstexprLutToSparse(f.Const("m", ints(mil.UInt1, 1, 0)), f.Const("q", ints(mil.UInt1, 1)),
			f.Const("lut", mil.Floats(mil.TensorOf(mil.FP16, 1, 2, 1), []float64{1, 2})), build.VectorAxis(0))
		return f.ConstexprSparseToDense(d, m)
	}, `tensor<uint1, [2]>, tensor<fp16, [1]> = constexpr_lut_to_sparse(indices_mask = tensor<uint1, [2]>([1, 0]), indices_nonzero_data = tensor<uint1, [1]>([1]), lut = tensor<fp16, [1, 2, 1]>([0x1p+0, 0x1p+1]), vector_axis = int32(0))`},
	{func(f *build.Func, v values) build.Value {
		m, d := f.ConstexprSparseBlockwiseShiftScale(f.Const("m", ints(mil.UInt1, 1, 1, 0, 0)),
			f.Const("q", ints(mil.Int8, 5, 6)), v.c, build.Offset(v.c))
		return f.ConstexprSparseToDense(d, m)
	}, `tensor<uint1, [4]>, tensor<fp16, [2]> = constexpr_sparse_blockwise_shift_scale(data_mask = tensor<uint1, [4]>([1, 1, 0, 0]), nonzero_data = tensor<int8, [2]>([5, 6]), offset = each, scale = each)`},
	{func(f *build.Func, v values) build.Value { return f.ReduceSum(v.i, nil) },
		"int32 = reduce_sum(axes = tensor<int32, [2]>([0, 1]), keep_dims = bool(false), x = i)"},
	{func(f *build.Func, v values) build.Value {
		return f.ReduceMean(v.x, []int{-1}, build.KeepDims(true))
	}, "tensor<fp16, [1, 4, 2, 1]> = reduce_mean(axes = tensor<int32, [1]>([-1]), keep_dims = bool(true), x = x)"},
	{func(f *build.Func, v values) build.Value { return f.ReduceMax(v.x, []int{1, 2}) },
		"tensor<fp16, [1, 32]> = reduce_max(axes = tensor<int32, [2]>([1, 2]), keep_dims = bool(false), x = x)"},
	{func(f *build.Func, v values) build.Value { return f.ReduceMin(v.x, []int{-1}) },
		"tensor<fp16, [1, 4, 2]> = reduce_min(axes = tensor<int32, [1]>([-1]), keep_dims = bool(false), x = x)"},
	{func(f *build.Func, v values) build.Value { return f.ReduceProd(v.x, []int{-1}) },
		"tensor<fp16, [1, 4, 2]> = reduce_prod(axes = tensor<int32, [1]>([-1]), keep_dims = bool(false), x = x)"},
	{func(f *build.Func, v values) build.Value { return f.ReduceL1Norm(v.x, []int{-1}) },
		"tensor<fp16, [1, 4, 2]> = reduce_l1_norm(axes = tensor<int32, [1]>([-1]), keep_dims = bool(false), x = x)"},
	{func(f *build.Func, v values) build.Value { return f.ReduceL2Norm(v.x, []int{-1}) },
		"tensor<fp16, [1, 4, 2]> = reduce_l2_norm(axes = tensor<int32, [1]>([-1]), keep_dims = bool(false), x = x)"},
	{func(f *build.Func, v values) build.Value { return f.ReduceLogSum(v.x, []int{-1}) },
		"tensor<fp16, [1, 4, 2]> = reduce_log_sum(axes = tensor<int32, [1]>([-1]), keep_dims = bool(false), x = x)"},
	{func(f *build.Func, v values) build.Value { return f.ReduceLogSumExp(v.x, []int{-1}) },
		"tensor<fp16, [1, 4, 2]> = reduce_log_sum_exp(axes = tensor<int32, [1]>([-1]), keep_dims = bool(false), x = x)"},
	{func(f *build.Func, v values) build.Value { return f.ReduceSumSquare(v.x, []int{-1}) },
		"tensor<fp16, [1, 4, 2]> = reduce_sum_square(axes = tensor<int32, [1]>([-1]), keep_dims = bool(false), x = x)"},
	{func(f *build.Func, v values) build.Value { return f.ReduceArgmax(v.x, 1) },
		`tensor<int32, [1, 2, 32]> = reduce_argmax(axis = int32(1), keep_dims = bool(false), output_dtype = string("int32"), x = x)`},
	{func(f *build.Func, v values) build.Value {
		return f.ReduceArgmin(v.i, -1, build.KeepDims(true), build.IndexType(mil.UInt16))
	}, `tensor<uint16, [2, 1]> = reduce_argmin(axis = int32(-1), keep_dims = bool(true), output_dtype = string("uint16"), x = i)`},
	{func(f *build.Func, v values) build.Value { return f.Softmax(v.x, -1) },
		"tensor<fp16, [1, 4, 2, 32]> = softmax(axis = int32(-1), x = x)"},
	{func(f *build.Func, v values) build.Value {
		return f.LayerNorm(v.y, []int{-1}, build.Gamma(v.n), build.Beta(v.n), build.Epsilon(0.5))
	}, "tensor<fp16, [1, 4, 1, 32]> = layer_norm(axes = tensor<int32, [1]>([-1]), beta = n, epsilon = fp16(0x1p-1), " +
		"gamma = n, x = x2)"},
	{func(f *build.Func, v values) build.Value { return f.LayerNorm(v.y, []int{1}) },
		"tensor<fp16, [1, 4, 1, 32]> = layer_norm(axes = tensor<int32, [1]>([1]), epsilon = " +
			"fp16(0x1.4f8b588e368f1p-17), x = x2)"},
	{func(f *build.Func, v values) build.Value {
		return f.BatchNorm(v.row, channels(f, "mean", 4), channels(f, "variance", 4), build.Gamma(channels(f, "g", 4)),
			build.Beta(channels(f, "b", 4)), build.Epsilon(0.5))
	}, "tensor<fp16, [1, 4, 9]> = batch_norm(beta = b, epsilon = fp16(0x1p-1), gamma = g, mean = mean, variance = " +
		"variance, x = row)"},
	{func(f *build.Func, v values) build.Value {
		return f.InstanceNorm(v.img, build.Gamma(channels(f, "g", 4)), build.Beta(channels(f, "b", 4)))
	},
		"tensor<fp16, [1, 4, 8, 9]> = instance_norm(beta = b, epsilon = fp16(0x1.4f8b588e368f1p-17), gamma = g, x = " +
			"img)"},
	{func(f *build.Func, v values) build.Value { return f.L2Norm(v.img, build.Epsilon(0.25)) },
		"tensor<fp16, [1, 4, 8, 9]> = l2_norm(epsilon = fp16(0x1p-2), x = img)"},
	{func(f *build.Func, v values) build.Value {
		return f.LocalResponseNorm(v.img, build.LocalResponse{Size: 3, Alpha: 0.5, Beta: 0.75, K: 2})
	}, "tensor<fp16, [1, 4, 8, 9]> = local_response_norm(alpha = fp16(0x1p-1), beta = fp16(0x1.8p-1), k = " +
		"fp16(0x1p+1), size = int32(3), x = img)"},
	{func(f *build.Func, v values) build.Value { return f.Matmul(v.x, v.y, build.TransposeY(true)) },
		"tensor<fp16, [1, 4, 2, 1]> = matmul(transpose_x = bool(false), transpose_y = bool(true), x = x, y = x2)"},
	{func(f *build.Func, v values) build.Value { return f.Matmul(v.y, v.y, build.TransposeX(true)) },
		"tensor<fp16, [1, 4, 32, 32]> = matmul(transpose_x = bool(true), transpose_y = bool(false), x = x2, y = x2)"},
	{func(f *build.Func, v values) build.Value { return f.Matmul(v.n, f.Transpose(v.n, 0)) },
		"fp16 = matmul(transpose_x = bool(false), transpose_y = bool(false), x = n, y = transpose_0)"},
	{func(f *build.Func, v values) build.Value { return f.Einsum("chw,cuw->chu", v.row, v.row) },
		`tensor<fp16, [1, 4, 4]> = einsum(equation = string("chw,cuw->chu"), values = (row, row))`},
	{func(f *build.Func, v values) build.Value {
		return f.ScaledDotProductAttention(v.x, v.y, v.y, build.AttnMask(f.Scalar(0.5)))
	}, "tensor<fp16, [1, 4, 2, 32]> = scaled_dot_product_attention(attn_mask = fp16(0x1p-1), key = x2, query = x, " +
		"value = x2)"},
	{func(f *build.Func, v values) build.Value { return f.Linear(v.x, v.w) },
		"tensor<fp16, [1, 4, 2, 8]> = linear(weight = w, x = x)"},
	{func(f *build.Func, v values) build.Value { return f.Linear(v.x, v.w, build.Bias(v.v)) },
		"tensor<fp16, [1, 4, 2, 8]> = linear(bias = v, weight = w, x = x)"},
	{func(f *build.Func, v values) build.Value { return f.Conv(v.img, v.k) },
		`tensor<fp16, [1, 6, 6, 7]> = conv(dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string("valid"), strides = tensor<int32, [2]>([1, 1]), weight = k, x = img)`},
	{func(f *build.Func, v values) build.Value {
		return f.Conv(v.img, v.k, build.Strides{1, 2}, build.Padding{1, 1, 2, 2}, build.Dilations{2, 1},
			build.Groups(1))
	}, `tensor<fp16, [1, 6, 6, 6]> = conv(dilations = tensor<int32, [2]>([2, 1]), groups = int32(1), pad = tensor<int32, [4]>([1, 1, 2, 2]), pad_type = string("custom"), strides = tensor<int32, [2]>([1, 2]), weight = k, x = img)`},
	{func(f *build.Func, v values) build.Value {
		return f.ConvTranspose(v.row, f.Weight("t", make([]float32, 24), 4, 2, 3), build.Strides{2}, build.Groups(2),
			build.Bias(channels(f, "b", 4)))
	}, `tensor<fp16, [1, 4, 19]> = conv_transpose(bias = b, dilations = tensor<int32, [1]>([1]), groups = int32(2), output_shape = tensor<int32, [3]>([1, 4, 19]), pad = tensor<int32, [2]>([0, 0]), pad_type = string("valid"), strides = tensor<int32, [1]>([2]), weight = t, x = row)`},
	{func(f *build.Func, v values) build.Value {
		return f.ConvTranspose(v.row, f.Weight("t", make([]float32, 24), 4, 2, 3), build.Strides{2}, build.Same,
			build.Dilations{2}, build.OutputShape{1, 2, 17})
	}, `tensor<fp16, [1, 2, 17]> = conv_transpose(dilations = tensor<int32, [1]>([2]), groups = int32(1), output_shape = tensor<int32, [3]>([1, 2, 17]), pad = tensor<int32, [2]>([0, 0]), pad_type = string("same"), strides = tensor<int32, [1]>([2]), weight = t, x = row)`},
	{func(f *build.Func, v values) build.Value { return f.L2Pool(v.row, []int{2}, build.Padding{1, 0}) },
		`tensor<fp16, [1, 4, 9]> = l2_pool(ceil_mode = bool(false), kernel_sizes = tensor<int32, [1]>([2]), pad = tensor<int32, [2]>([1, 0]), pad_type = string("custom"), strides = tensor<int32, [1]>([1]), x = row)`},
	{func(f *build.Func, v values) build.Value { return f.UpsampleNearestNeighbor(v.img, 2, 1.5) },
		"tensor<fp16, [1, 4, 16, 13]> = upsample_nearest_neighbor(scale_factor_height = int32(2), scale_factor_width " +
			"= fp32(0x1.8p+0), x = img)"},
	{func(f *build.Func, v values) build.Value { return f.UpsampleBilinear(v.img, 2, 1, build.SampleUnalign) },
		"tensor<fp16, [1, 4, 16, 9]> = upsample_bilinear(align_corners = bool(false), half_pixel_centers = " +
			"bool(true), scale_factor_height = fp32(0x1p+1), scale_factor_width = fp32(0x1p+0), x = img)"},
	{func(f *build.Func, v values) build.Value { return f.ResizeNearestNeighbor(v.img, 5, 6) },
		"tensor<fp16, [1, 4, 5, 6]> = resize_nearest_neighbor(target_size_height = int32(5), target_size_width = " +
			"int32(6), x = img)"},
	{func(f *build.Func, v values) build.Value { return f.ResizeBilinear(v.img, 5, 6, build.SampleAlign) },
		`tensor<fp16, [1, 4, 5, 6]> = resize_bilinear(sampling_mode = string("ALIGN_CORNERS"), target_size_height = int32(5), target_size_width = int32(6), x = img)`},
	{func(f *build.Func, v values) build.Value { return f.Resize(v.img, []int{5, 0}, "", true) },
		`tensor<fp16, [1, 4, 5, 9]> = resize(interpolation_mode = string("NEAREST_NEIGHBOR"), resized_dims = uint32(2), sampling_mode = string("DEFAULT"), shape = tensor<int32, [2]>([5, 0]), x = img)`},
	{func(f *build.Func, v values) build.Value {
		return f.CropResize(v.img, f.Input("boxes", build.FP16, 2, 4), build.Crop{Height: 3, Width: 2},
			build.BoxIndices(f.Input("of", mil.Int32, 2)))
	}, `tensor<fp16, [2, 4, 3, 2]> = crop_resize(box_coordinate_mode = string("CORNERS_HEIGHT_FIRST"), box_indices = of, boxes = boxes, normalized_coordinates = bool(false), pad_value = fp16(0x0p+0), sampling_mode = string("DEFAULT"), spatial_scale = fp32(0x1p+0), target_height = int32(3), target_width = int32(2), x = img)`},
	{func(f *build.Func, v values) build.Value {
		return f.CropResize(v.img, f.Input("regions", build.FP16, 2, 1, 5, 1, 1), build.Crop{Height: 3, Width: 2,
			Order: "CENTER_SIZE_WIDTH_FIRST", Normalized: true, Scale: 0.5, Mode: build.SampleOffset, Pad: 1})
	}, `tensor<fp16, [2, 1, 4, 3, 2]> = crop_resize(box_coordinate_mode = string("CENTER_SIZE_WIDTH_FIRST"), normalized_coordinates = bool(true), pad_value = fp16(0x1p+0), roi = regions, sampling_mode = string("OFFSET_CORNERS"), spatial_scale = fp32(0x1p-1), target_height = int32(3), target_width = int32(2), x = img)`},
	{func(f *build.Func, v values) build.Value {
		return f.Affine(v.img, f.Input("m", build.FP16, 1, 6), 3, 2, build.Sampler{})
	}, `tensor<fp16, [1, 4, 3, 2]> = affine(align_corners = bool(true), coordinates_mode = string("normalized_minus_one_to_one"), output_height = int32(3), output_width = int32(2), padding_mode = string("constant"), padding_value = fp16(0x0p+0), sampling_mode = string("bilinear"), transform_matrix = m, x = img)`},
	{func(f *build.Func, v values) build.Value {
		return f.Resample(v.img, f.Input("at", build.FP16, 1, 3, 2, 2), build.Sampler{Sampling: "nearest",
			Padding: "border", Coordinates: "unnormalized", Value: 0.5, Edges: true})
	}, `tensor<fp16, [1, 4, 3, 2]> = resample(align_corners = bool(false), coordinates = at, coordinates_mode = string("unnormalized"), padding_mode = string("border"), padding_value = fp16(0x1p-1), sampling_mode = string("nearest"), x = img)`},
	{func(f *build.Func, v values) build.Value {
		y, _, _ := f.Lstm(v.row, f.Input("h", build.FP16, 4, 4), f.Input("c", build.FP16, 4, 4), cell(f, "", 4, 2, 9),
			build.RecurrentSettings{Sequence: true, Clip: 0.5, Back: back(f)})
		return y
	}, `tensor<fp16, [1, 4, 4]>, tensor<fp16, [4, 4]>, tensor<fp16, [4, 4]> = lstm(activation = string("tanh"), bias = bias, bias_back = bias2, cell_activation = string("tanh"), clip = fp16(0x1p-1), direction = string("bidirectional"), initial_c = c, initial_h = h, output_sequence = bool(true), peephole = peephole, peephole_back = peephole2, recurrent_activation = string("sigmoid"), weight_hh = hh, weight_hh_back = hh2, weight_ih = ih, weight_ih_back = ih2, x = row)`},
	{func(f *build.Func, v values) build.Value {
		w := cell(f, "", 3, 2, 9)
		w.InputBias = w.Bias
		y, _ := f.Gru(v.row, f.Input("h", build.FP16, 4, 2), w, build.RecurrentSettings{Direction: build.Reverse,
			Gate: build.SquashSigmoidHard})
		return y
	}, `tensor<fp16, [1, 4, 2]>, tensor<fp16, [4, 2]> = gru(activation = string("tanh"), bias = bias, direction = string("reverse"), initial_h = h, input_bias = bias, output_sequence = bool(false), recurrent_activation = string("sigmoid_hard"), reset_after = bool(false), weight_hh = hh, weight_ih = ih, x = row)`},
	{func(f *build.Func, v values) build.Value {
		_, last := f.Rnn(v.row, f.Input("h", build.FP16, 4, 2), cell(f, "", 1, 2, 9),
			build.RecurrentSettings{Activation: build.SquashRelu})
		return last
	}, `tensor<fp16, [1, 4, 2]>, tensor<fp16, [4, 2]> = rnn(activation = string("relu"), bias = bias, direction = string("forward"), initial_h = h, output_sequence = bool(false), weight_hh = hh, weight_ih = ih, x = row)`},
	{func(f *build.Func, v values) build.Value { return f.MaxPool(v.row, []int{2}, build.SameLower) },
		`tensor<fp16, [1, 4, 9]> = max_pool(ceil_mode = bool(false), kernel_sizes = tensor<int32, [1]>([2]), pad = tensor<int32, [2]>([0, 0]), pad_type = string("same_lower"), strides = tensor<int32, [1]>([1]), x = row)`},
	{func(f *build.Func, v values) build.Value {
		return f.MaxPool(v.img, []int{2, 2}, build.Strides{2, 2}, build.Padding{0, 0, 0, 0}, build.CeilMode(true))
	}, `tensor<fp16, [1, 4, 4, 5]> = max_pool(ceil_mode = bool(true), kernel_sizes = tensor<int32, [2]>([2, 2]), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string("custom"), strides = tensor<int32, [2]>([2, 2]), x = img)`},
	{func(f *build.Func, v values) build.Value {
		return f.AvgPool(v.img, []int{2, 3}, build.Strides{2, 3}, build.Same, build.Padding{0, 0, 1, 1},
			build.CeilMode(true), build.Valid, build.ExcludePadding(true))
	}, `tensor<fp16, [1, 4, 4, 3]> = avg_pool(ceil_mode = bool(true), exclude_padding_from_average = bool(true), kernel_sizes = tensor<int32, [2]>([2, 3]), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string("valid"), strides = tensor<int32, [2]>([2, 3]), x = img)`},
	{func(f *build.Func, v values) build.Value { return f.Reshape(v.x, 2, -1) },
		"tensor<fp16, [2, 128]> = reshape(shape = tensor<int32, [2]>([2, 128]), x = x)"},
	{func(f *build.Func, v values) build.Value { return f.Transpose(v.x, 0, 3, 2, 1) },
		"tensor<fp16, [1, 32, 2, 4]> = transpose(perm = tensor<int32, [4]>([0, 3, 2, 1]), x = x)"},
	{func(f *build.Func, v values) build.Value { return f.ExpandDims(v.f, 0, -1) },
		"tensor<fp32, [1, 2, 3, 1]> = expand_dims(axes = tensor<int32, [2]>([0, -1]), x = f)"},
	{func(f *build.Func, v values) build.Value { return f.Squeeze(v.y) },
		"tensor<fp16, [4, 32]> = squeeze(axes = tensor<int32, [2]>([0, 2]), x = x2)"},
	{func(f *build.Func, v values) build.Value { return f.Squeeze(v.y, -2) },
		"tensor<fp16, [1, 4, 32]> = squeeze(axes = tensor<int32, [1]>([-2]), x = x2)"},
	{func(f *build.Func, v values) build.Value { return f.Concat(2, v.x, v.y) },
		"tensor<fp16, [1, 4, 3, 32]> = concat(axis = int32(2), interleave = bool(false), values = (x, x2))"},
	{func(f *build.Func, v values) build.Value { return f.ConcatInterleaved(1, v.x, v.x) },
		"tensor<fp16, [1, 8, 2, 32]> = concat(axis = int32(1), interleave = bool(true), values = (x, x))"},
	{func(f *build.Func, v values) build.Value { return f.Split(v.x, 1, 2)[1] },
		"tensor<fp16, [1, 2, 2, 32]>, tensor<fp16, [1, 2, 2, 32]> = split(axis = int32(1), num_splits = int32(2), x " +
			"= x)"},
	{func(f *build.Func, v values) build.Value { return f.SplitSizes(v.x, 1, 1, 3)[0] },
		"tensor<fp16, [1, 1, 2, 32]>, tensor<fp16, [1, 3, 2, 32]> = split(axis = int32(1), split_sizes = " +
			"tensor<int32, [2]>([1, 3]), x = x)"},
	{func(f *build.Func, v values) build.Value { return f.Flatten2d(v.x, -1) },
		"tensor<fp16, [8, 32]> = flatten2d(axis = int32(-1), x = x)"},
	{func(f *build.Func, v values) build.Value {
		return f.ReshapeLike(v.f, build.AxesOf{Value: v.x, Begin: 2, End: 3}, build.AxesOf{Value: v.i, Begin: -1,
			ToEnd: true})
	}, "tensor<fp32, [2, 3]> = reshape_like(begins = (begins, begins_1), end_masks = (end_masks, end_masks_1), ends " +
		"= (ends, ends_1), ref_tensors = (x, i), x = f)"},
	{func(f *build.Func, v values) build.Value { return f.Stack(-1, v.f, v.f) },
		"tensor<fp32, [2, 3, 2]> = stack(axis = int32(-1), values = (f, f))"},
	{func(f *build.Func, v values) build.Value { return f.Tile(v.f, 2, 1) },
		"tensor<fp32, [4, 3]> = tile(reps = tensor<int32, [2]>([2, 1]), x = f)"},
	{func(f *build.Func, v values) build.Value { return f.Reverse(v.f) },
		"tensor<fp32, [2, 3]> = reverse(axes = tensor<int32, [2]>([0, 1]), x = f)"},
	{func(f *build.Func, v values) build.Value {
		return f.ReverseSequence(v.f, f.SliceBySize(f.Reshape(v.i, 6), []int{0}, []int{3}), 0, 1)
	}, "tensor<fp32, [2, 3]> = reverse_sequence(batch_axis = int32(1), lengths = slice_by_size_0, seq_axis = " +
		"int32(0), x = f)"},
	{func(f *build.Func, v values) build.Value { return f.Crop(v.img, [2]int{1, 2}, [2]int{0, 3}) },
		"tensor<fp16, [1, 4, 5, 6]> = crop(crop_height = tensor<int32, [2]>([1, 2]), crop_width = tensor<int32, " +
			"[2]>([0, 3]), x = img)"},
	{func(f *build.Func, v values) build.Value { return f.SlidingWindows(v.row, 2, 3, 2) },
		"tensor<fp16, [1, 4, 4, 3]> = sliding_windows(axis = int32(2), size = int32(3), stride = int32(2), x = row)"},
	{func(f *build.Func, v values) build.Value { return f.DepthToSpace(v.img, 2) },
		"tensor<fp16, [1, 1, 16, 18]> = depth_to_space(block_size = int32(2), x = img)"},
	{func(f *build.Func, v values) build.Value { return f.SpaceToDepth(v.x, 2) },
		"tensor<fp16, [1, 16, 1, 16]> = space_to_depth(block_size = int32(2), x = x)"},
	{func(f *build.Func, v values) build.Value { return f.PixelShuffle(v.img, 2) },
		"tensor<fp16, [1, 1, 16, 18]> = pixel_shuffle(upscale_factor = int32(2), x = img)"},
	{func(f *build.Func, v values) build.Value { return f.PixelUnshuffle(v.x, 2) },
		"tensor<fp16, [1, 16, 1, 16]> = pixel_unshuffle(downscale_factor = uint32(2), x = x)"},
	{func(f *build.Func, v values) build.Value {
		return f.SpaceToBatch(v.img, [2]int{2, 3}, [2]int{1, 1}, [2]int{0, 3})
	}, "tensor<fp16, [6, 4, 5, 4]> = space_to_batch(block_shape = tensor<int32, [2]>([2, 3]), paddings = " +
		"tensor<int32, [2, 2]>([1, 1, 0, 3]), x = img)"},
	{func(f *build.Func, v values) build.Value {
		return f.BatchToSpace(f.Tile(v.img, 6, 1, 1, 1), [2]int{2, 3}, [2]int{1, 1}, [2]int{0, 3})
	}, "tensor<fp16, [1, 4, 14, 24]> = batch_to_space(block_shape = tensor<int32, [2]>([2, 3]), crops = " +
		"tensor<int32, [2, 2]>([1, 1, 0, 3]), x = tile_0)"},
	{func(f *build.Func, v values) build.Value { return f.ShapeOf(v.row) }, "tensor<int32, [3]> = shape(x = row)"},
	{func(f *build.Func, v values) build.Value { return f.Fill(mil.FP16, 0.5, 2, 3) },
		"tensor<fp16, [2, 3]> = fill(shape = tensor<int32, [2]>([2, 3]), value = fp16(0x1p-1))"},
	{func(f *build.Func, v values) build.Value { return f.FillLike(mil.Bool, 1, v.f) },
		"tensor<bool, [2, 3]> = fill_like(ref_tensor = f, value = bool(true))"},
	{func(f *build.Func, v values) build.Value { return f.Range1d(mil.Int32, 9, 0, -2) },
		"tensor<int32, [5]> = range_1d(end = int32(0), start = int32(9), step = int32(-2))"},
	{func(f *build.Func, v values) build.Value { return f.BandPart(v.f, 0, -1) },
		"tensor<fp32, [2, 3]> = band_part(lower = int32(0), upper = int32(-1), x = f)"},
	{func(f *build.Func, v values) build.Value { return f.OneHot(mil.FP32, v.i, 4, -1, 1, -0.5) },
		"tensor<fp32, [2, 3, 4]> = one_hot(axis = int32(-1), indices = i, off_value = fp32(-0x1p-1), on_value = " +
			"fp32(0x1p+0), one_hot_vector_size = int32(4))"},
	{func(f *build.Func, v values) build.Value {
		return f.Cumsum(v.i, -1, build.Exclusive(true), build.Backward(true))
	}, "tensor<int32, [2, 3]> = cumsum(axis = int32(-1), exclusive = bool(true), reverse = bool(true), x = i)"},
	{func(f *build.Func, v values) build.Value { return f.NonZero(f.Const("mask", mil.Int32s(0, 3, 4))) },
		"tensor<int32, [2, 1]> = non_zero(x = tensor<int32, [3]>([0, 3, 4]))"},
	{func(f *build.Func, v values) build.Value {
		return f.SliceUpdate(v.f, f.Squeeze(f.Fill(mil.FP32, 1, 1, 2), 0), []int{1, 0}, []int{2, 2},
			build.SqueezeMask{true, false})
	}, "tensor<fp32, [2, 3]> = slice_update(begin = tensor<int32, [2]>([1, 0]), begin_mask = tensor<bool, " +
		"[2]>([false, false]), end = tensor<int32, [2]>([2, 2]), end_mask = tensor<bool, [2]>([false, false]), " +
		"squeeze_mask = tensor<bool, [2]>([true, false]), stride = tensor<int32, [2]>([1, 1]), update = " +
		"squeeze_0, x = f)"},
	{func(f *build.Func, v values) build.Value {
		return f.SliceUpdateAt(v.f, f.Fill(mil.FP32, 1, 1, 2), f.Input("at", mil.Int32, 2))
	}, "tensor<fp32, [2, 3]> = slice_update(begin = at, begin_mask = tensor<bool, [2]>([false, false]), end = at, " +
		"end_mask = tensor<bool, [2]>([false, false]), squeeze_mask = tensor<bool, [2]>([false, false]), stride = " +
		"tensor<int32, [2]>([1, 1]), update = fill_0, x = f)"},
	{func(f *build.Func, v values) build.Value {
		return f.SliceBySizeAt(v.f, f.Input("at", mil.Int32, 2), 1, 2)
	}, "tensor<fp32, [1, 2]> = slice_by_size(begin = at, size = tensor<int32, [2]>([1, 2]), x = f)"},
	{func(f *build.Func, v values) build.Value {
		b, s := f.Input("rows", mil.FP32, 1, 7, 4), f.Input("scores", mil.FP32, 1, 7, 2)
		_, _, _, count := f.NonMaximumSuppression(b, s, 0.5, 3, true, 0.25)
		return count
	}, "tensor<fp32, [1, 3, 4]>, tensor<fp32, [1, 3, 2]>, tensor<int32, [1, 3]>, tensor<int32, [1]> = " +
		"non_maximum_suppression(boxes = rows, iou_threshold = fp32(0x1p-1), max_boxes = int32(3), " +
		"per_class_suppression = bool(true), score_threshold = fp32(0x1p-2), scores = scores)"},
	{func(f *build.Func, v values) build.Value {
		b, s := f.Input("columns", mil.FP16, 1, 4, 7), f.Input("scores", mil.FP16, 1, 2, 7)
		chosen, _, _, _ := f.NonMaximumSuppression(b, s, 0.5, 3, false)
		return chosen
	}, "tensor<fp16, [1, 4, 3]>, tensor<fp16, [1, 2, 3]>, tensor<int32, [1, 3]> = non_maximum_suppression(boxes = columns, iou_threshold = fp16(0x1p-1), max_boxes = " +
		"int32(3), per_class_suppression = bool(false), scores = scores)"},
	{func(f *build.Func, v values) build.Value {
		label, _ := f.Classify(f.Reshape(f.Cast(v.f, mil.FP32), 6), "a", "b", "c", "d", "e", "f")
		return label
	}, `string, dict<string, fp64> = classify(classes = list<string, 6>(("a", "b", "c", "d", "e", "f")), probabilities = reshape_0)`},
	{func(f *build.Func, v values) build.Value {
		return f.TensorToTensorBuffer(v.row, []int{1, 1, 1}, 128, 32, 1)
	}, "tensor_buffer<fp16, shape=[1, 4, 9], strides=[128, 32, 1], interleave_factors=[1, 1, 1]> = " +
		"tensor_to_tensor_buffer(input = row, interleave_factors = tensor<uint8, [3]>([1, 1, 1]), strides = " +
		"tensor<int64, [3]>([128, 32, 1]))"},
	{func(f *build.Func, v values) build.Value {
		return f.TensorBufferToTensor(f.TensorToTensorBuffer(v.row, []int{1, 1, 1}, 128, 32, 1))
	}, "tensor<fp16, [1, 4, 9]> = tensor_buffer_to_tensor(input = tensor_to_tensor_buffer_0)"},
	{func(f *build.Func, v values) build.Value { return f.ReadState(f.State("kv", build.FP16, 1, 4)) },
		"tensor<fp16, [1, 4]> = read_state(input = kv)"},
	{func(f *build.Func, v values) build.Value {
		s := f.State("kv", build.FP32, 2, 3)
		f.WriteState(s, v.f)
		return f.ReadState(s)
	}, "write_state(data = f, input = kv)"},
	{func(f *build.Func, v values) build.Value {
		return f.CoremlUpdateState(f.State("kv", build.FP32, 2, 3), v.f)
	}, "tensor<fp32, [2, 3]> = coreml_update_state(state = kv, value = f)"},
	{func(f *build.Func, v values) build.Value {
		return f.Gather(v.f, v.i, 1, build.BatchDims(1), build.ValidateIndices(true))
	}, "tensor<fp32, [2, 3]> = gather(axis = int32(1), batch_dims = int32(1), indices = i, validate_indices = " +
		"bool(true), x = f)"},
	{func(f *build.Func, v values) build.Value {
		return f.GatherAlongAxis(v.f, v.i, -1, build.ValidateIndices(true))
	}, "tensor<fp32, [2, 3]> = gather_along_axis(axis = int32(-1), indices = i, validate_indices = bool(true), x = f)"},
	{func(f *build.Func, v values) build.Value { return f.GatherNd(v.img, v.i, build.BatchDims(0)) },
		"tensor<fp16, [2, 9]> = gather_nd(batch_dims = int32(0), indices = i, validate_indices = bool(false), x = img)"},
	{func(f *build.Func, v values) build.Value {
		return f.Scatter(v.f, f.Const("at", mil.Int32s(1)), f.SliceBySize(v.f, []int{0, 0}, []int{1, 3}), 0,
			build.ScatterMax)
	}, `tensor<fp32, [2, 3]> = scatter(axis = int32(0), data = f, indices = tensor<int32, [1]>([1]), mode = string("max"), updates = slice_by_size_0, validate_indices = bool(false))`},
	{func(f *build.Func, v values) build.Value {
		return f.ScatterAlongAxis(v.f, v.i, v.f, 1, build.ValidateIndices(true))
	}, `tensor<fp32, [2, 3]> = scatter_along_axis(axis = int32(1), data = f, indices = i, mode = string("add"), updates = f, validate_indices = bool(true))`},
	{func(f *build.Func, v values) build.Value {
		return f.ScatterNd(v.img, v.i, f.GatherNd(v.img, v.i), build.ScatterUpdate)
	}, `tensor<fp16, [1, 4, 8, 9]> = scatter_nd(data = img, indices = i, mode = string("update"), updates = gather_nd_0, validate_indices = bool(false))`},
	{func(f *build.Func, v values) build.Value {
		values, _ := f.Topk(v.f, 2, -1, build.Ascending(true), build.IndexType(mil.UInt16))
		return values
	}, `tensor<fp32, [2, 2]>, tensor<uint16, [2, 2]> = topk(ascending = bool(true), axis = int32(-1), k = int32(2), output_indices_dtype = string("uint16"), return_indices = bool(true), sort = bool(true), x = f)`},
	{func(f *build.Func, v values) build.Value { return f.Argsort(v.f, 0, true) },
		"tensor<int32, [2, 3]> = argsort(ascending = bool(true), axis = int32(0), x = f)"},
	{func(f *build.Func, v values) build.Value { return f.RandomUniform(mil.FP16, 0, 1, -1, 2, 3) },
		"tensor<fp16, [2, 3]> = random_uniform(high = fp16(0x1p+0), low = fp16(0x0p+0), seed = int32(-1), shape = " +
			"tensor<int32, [2]>([2, 3]))"},
	{func(f *build.Func, v values) build.Value { return f.RandomNormal(mil.FP32, 0, 1, 7, 2) },
		"tensor<fp32, [2]> = random_normal(mean = fp32(0x0p+0), seed = int32(7), shape = tensor<int32, [1]>([2]), " +
			"stddev = fp32(0x1p+0))"},
	{func(f *build.Func, v values) build.Value { return f.RandomBernoulli(mil.FP16, 0.5, 7, 2) },
		"tensor<fp16, [2]> = random_bernoulli(prob = fp16(0x1p-1), seed = int32(7), shape = tensor<int32, [1]>([2]))"},
	{func(f *build.Func, v values) build.Value { return f.RandomCategorical(v.f, 4, true, -1) },
		`tensor<fp32, [2, 4]> = random_categorical(mode = string("probs"), seed = int32(-1), size = int32(4), x = f)`},
	{func(f *build.Func, v values) build.Value { return f.SliceBySize(v.f, []int{0, 1}, []int{1, -1}) },
		"tensor<fp32, [1, 2]> = slice_by_size(begin = tensor<int32, [2]>([0, 1]), size = tensor<int32, [2]>([1, " +
			"-1]), x = f)"},
	{func(f *build.Func, v values) build.Value { return f.SliceByIndex(v.f, []int{0, 1}, []int{1, 3}) },
		"tensor<fp32, [1, 2]> = slice_by_index(begin = tensor<int32, [2]>([0, 1]), begin_mask = tensor<bool, " +
			"[2]>([false, false]), end = tensor<int32, [2]>([1, 3]), end_mask = tensor<bool, [2]>([false, false]), " +
			"squeeze_mask = tensor<bool, [2]>([false, false]), stride = tensor<int32, [2]>([1, 1]), x = f)"},
	{func(f *build.Func, v values) build.Value {
		return f.SliceByIndex(v.f, []int{1, 9}, []int{9, 1}, build.Strides{1, 2}, build.BeginMask{false, true},
			build.EndMask{true, true}, build.SqueezeMask{true, false})
	}, "tensor<fp32, [2]> = slice_by_index(begin = tensor<int32, [2]>([1, 9]), begin_mask = tensor<bool, " +
		"[2]>([false, true]), end = tensor<int32, [2]>([9, 1]), end_mask = tensor<bool, [2]>([true, true]), " +
		"squeeze_mask = tensor<bool, [2]>([true, false]), stride = tensor<int32, [2]>([1, 2]), x = f)"},
	{func(f *build.Func, v values) build.Value { return f.Pad(v.f, []int{0, 1}) },
		`tensor<fp32, [2, 4]> = pad(constant_val = fp32(0x0p+0), mode = string("constant"), pad = tensor<int32, [2]>([0, 1]), x = f)`},
	{func(f *build.Func, v values) build.Value { return f.Pad(v.i, []int{1, 1}, build.PadValue(-3)) },
		`tensor<int32, [2, 5]> = pad(constant_val = int32(-3), mode = string("constant"), pad = tensor<int32, [2]>([1, 1]), x = i)`},
	{func(f *build.Func, v values) build.Value {
		return f.Pad(f.Cast(v.i, mil.Bool), []int{1, 1}, build.PadReflect, build.PadValue(1))
	}, `tensor<bool, [2, 5]> = pad(constant_val = bool(true), mode = string("reflect"), pad = tensor<int32, [2]>([1, 1]), x = cast_0)`},
	{func(f *build.Func, v values) build.Value { return f.Cast(v.f, mil.FP16) },
		`tensor<fp16, [2, 3]> = cast(dtype = string("fp16"), x = f)`},
	{func(f *build.Func, v values) build.Value {
		return f.Op("concat", mil.TensorOf(mil.FP16, 1, 8, 2, 32), build.A("values", []build.Value{v.x, v.x}),
			build.A("axis", mil.Int32Scalar(1)), build.A("interleave", mil.BoolScalar(false)))
	}, "tensor<fp16, [1, 8, 2, 32]> = concat(axis = int32(1), interleave = bool(false), values = (x, x))"},
}
