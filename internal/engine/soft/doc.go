// Package soft is the software Neural Engine: it compiles MIL programs and runs them on the tensors' own pages, on any
// machine.
//
// It follows the known rules of the hardware: static shapes, rows padded to 64 bytes, surfaces read from byte 0, fp16
// storage. In the reference mode each operation reads stored values, sums in float32 or wider, and rounds once, to
// nearest even, when it stores its result. NaN, infinities, subnormals and the sign of zero follow IEEE 754.
//
// With the option Numerics it computes as a chip does (package numerics). Attention, recurrent operators, softmax and
// norms are then sequences of operators, each rounded to fp16; their order is inferred. A sum that may leave the range
// is summed again in the order of the hardware.
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
// Weights of constexpr_blockwise_shift_scale stay packed where linear, matmul, a 1x1 convolution without groups or
// gather along axis 0 read them. Package packed expands a few rows at a time, and its documentation says how it sums a
// product with one vector. Every other product has the bits of weights that are expanded first. With ane.Constants the
// engine reads the weights in the caller's memory, and holds them until the executable and all its instances are
// closed.
//
// A plan keeps the sources of its constants and the folded operations, so that method NewInstance can make executables
// with other weights. A plan therefore holds its weights, and operands of folded operations, even if no run reads them.
//
// On Linux the engine maps each bound surface a second time by its handle, and kernels read and write that mapping. So
// a program that passes only addresses cannot work by accident. Elsewhere a surface has one address in a process, and
// the receipt reports that. Kernels use rows without gaps in place. Padded rows are copied to scratch memory in the
// engine, as the hardware copies them to its own store.
package soft
