package kernels

// kernels holds the kernel of every operator that is not a view, besides those of functions and of intOps.
var kernels = map[string]Kernel{
	"greater": compare, "greater_equal": compare, "less": compare, "less_equal": compare, "equal": compare,
	"not_equal": compare, "logical_and": logical, "logical_or": logical, "logical_xor": logical, "select": choose,
	"constexpr_cast": cast, "quantize": quantize, "dequantize": shiftScale,
	"constexpr_affine_dequantize": shiftScale, "constexpr_blockwise_shift_scale": shiftScale,
	"constexpr_lut_to_dense": lutToDense, "constexpr_sparse_to_dense": sparseToDense,
	"constexpr_lut_to_sparse": lutToSparse, "constexpr_sparse_blockwise_shift_scale": sparseShiftScale,
	"prelu": prelu, "softplus_parametric": softplusParametric, "logical_not": logicalNot,

	"reduce_sum": reduce, "reduce_mean": reduce, "reduce_max": reduce, "reduce_min": reduce,
	"reduce_prod": reduce, "reduce_l1_norm": reduce, "reduce_l2_norm": reduce, "reduce_log_sum": reduce,
	"reduce_sum_square": reduce, "reduce_log_sum_exp": logSumExp, "reduce_argmax": indexOf, "reduce_argmin": indexOf,

	"softmax": softmax, "layer_norm": layerNorm, "batch_norm": batchNorm, "instance_norm": instanceNorm,
	"l2_norm": l2Norm, "local_response_norm": localNorm,

	"matmul": matmul, "linear": linear, "einsum": einsum, "scaled_dot_product_attention": attention,

	"lstm": recurrent, "gru": recurrent, "rnn": recurrent,

	"conv": conv, "conv_transpose": convTranspose,

	"upsample_nearest_neighbor": resize, "upsample_bilinear": resize, "resize_nearest_neighbor": resize,
	"resize_bilinear": resize, "resize": resize, "crop_resize": cropResize, "affine": affineTransform,
	"resample": resample,

	"max_pool": maxPool, "avg_pool": avgPool, "l2_pool": l2Pool,
	"transpose": transpose, "concat": concat, "split": split,
	"slice_by_index": slice, "slice_by_size": slice, "pad": pad,
	"cast":   cast,
	"gather": gatherRows, "gather_nd": gatherRows, "gather_along_axis": gatherAlongAxis, "scatter": scatterRows,
	"scatter_nd": scatterRows, "scatter_along_axis": scatterRows, "topk": topK, "argsort": topK,
	"random_uniform": random, "random_normal": random, "random_bernoulli": random, "random_categorical": random,
	"read_state": Copy, "write_state": Copy, "coreml_update_state": Copy,
	"slice_update": sliceUpdate, "shape": known, "non_zero": known, "fill": constantFill, "fill_like": constantFill,
	"range_1d": rangeOf, "band_part": band, "one_hot": oneHot, "cumsum": cumsum,
	"tile": pick, "reverse": pick, "crop": pick, "sliding_windows": pick,
	"depth_to_space": pick, "space_to_depth": pick, "pixel_shuffle": pick, "pixel_unshuffle": pick,
	"space_to_batch": blocks, "batch_to_space": blocks, "stack": stack, "reverse_sequence": reverseSequence,
}
