// Package soft is the software Neural Engine: it compiles MIL programs and
// runs them on the tensors' own pages, on any machine.
//
// It keeps the rules of the hardware where they are known: static shapes, rows
// padded to 64 bytes, surfaces read from byte 0, fp16 storage. Its numerics are
// the reference mode: each operation reads stored values, sums in float32 or
// wider, and rounds once, to nearest even, when it stores its result. NaN,
// infinities, subnormals and the sign of zero follow IEEE 754; the hardware's
// own deviations (narrow accumulators, tables, flushed subnormals) are not
// imitated.
//
// The path of a program:
//
//	ops.Graph -> plan (constants folded, buffers placed) -> invocation -> kernels
//
// Compiling is bounded, so that a short text cannot make it run or grow without
// end: constants are computed and decoded ahead only up to a budget, the rest is
// left to every run, and a program whose intermediate values and workspaces need
// more than 8 GiB at once is refused with the place of the value that was one too
// many.
//
// A plan keeps where its constants came from and what was folded. So an executable
// makes others with other weight files (its method NewInstance, which a broker's
// driver asks for) without parsing, analysing or planning: what the files change is
// read, folded and decoded anew, and everything else is shared. The price is that a
// plan holds its weights, and operands of folded operations, also where no run reads
// them any more.
//
// A plan is made once. On Linux each bound surface is mapped a second time
// through its handle, and kernels read and write that mapping, so a program that
// only hands over addresses cannot work by accident. Elsewhere a surface has one
// address in a process, and the receipt says so. Rows without gaps are used in place;
// padded rows pass through scratch memory inside the engine, as they pass
// through the hardware's own store.
package soft
