// Package soft is the software Neural Engine: it compiles MIL programs and
// runs them on the tensors' own pages, on any machine.
//
// It follows the known rules of the hardware: static shapes, rows padded to 64 bytes, surfaces read from byte 0, fp16
// storage. Its numerics are the reference mode: each operation reads stored values, sums in float32 or wider, and
// rounds once, to nearest even, when it stores its result. NaN, infinities, subnormals and the sign of zero follow IEEE
// 754.
//
// With the option Numerics it computes as a chip does (package numerics): steps whose arithmetic differs have other
// kernels. Attention, recurrent operators, softmax and norms are then sequences of operators, each rounded to fp16;
// their order is inferred. A sum that may leave the range is summed again in the order of the hardware.
//
// The path of a program:
//
//	ops.Graph -> plan (constants folded, steps fused, buffers placed) -> invocation -> kernels
//
// Package plan decides what is computed, in which order and where in memory. Package kernels computes, and package run
// has the goroutines and the memory of a step. This package has the engine, and what is loaded and bound.
//
// Compiling is bounded, so that a short text cannot make it run or grow without end. Constants are computed and decoded
// ahead only up to a budget; every run computes the rest. A program whose intermediate values and workspaces need more
// than 8 GiB at once is rejected, with the position of the value that exceeds the limit.
//
// Operators on each element that follow each other, or a matmul, linear or conv, are fused (see package plan): they
// take turns on pieces of the result that fit the cache. After a product the pieces are its tiles if these are whole
// rows, as they are up to 256 columns and 1,024 terms a sum; otherwise they are pieces of the whole result, which is
// quicker than parts of rows. Fusing changes no bit in any mode. A value stays in memory if it is an output, if several
// operators or a state read it, or if the next result has another number of elements or another element size.
//
// Weights of constexpr_blockwise_shift_scale stay packed where linear, matmul, a 1x1 convolution without groups or
// gather along axis 0 read them: integers of 2, 3, 4, 6 or 8 bits, scales of fp16, results of fp16. Package packed
// expands a few rows at a time. A product with several rows expands a panel, and is bit for bit that with the weights
// expanded first, in every mode; so is one vector in the modes of chips. In the reference mode a vector times packed
// rows is summed in lanes, and integers of 4 bits in the usual blocks are multiplied without rounding elements to
// fp16: see package packed for the order and its bound. Other operators, and matmul of one vector and a matrix with a
// column for each sum, which is slower, have no such kernel; einsum and palettes are expanded when compiling. With
// ane.Constants the weights are read where the caller has them, and held until the executable and all its instances
// are closed.
//
// A plan keeps the sources of its constants and the folded operations, to make executables with other weight files
// (method NewInstance, which a broker's driver calls). The cost: a plan holds its weights, and operands of folded
// operations, even if no run reads them any more.
//
// On Linux each bound surface is mapped a second time through its handle, and kernels read and write that mapping. So a
// program that passes only addresses cannot work by accident. Elsewhere a surface has one address in a process, and the
// receipt reports that. Kernels use rows without gaps in place; padded rows pass through scratch memory inside the
// engine, as they pass through the hardware's own store.
package soft
