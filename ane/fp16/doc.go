// Package fp16 converts between float32, float64 and IEEE 754 binary16, the
// number format in which the Neural Engine stores its tensors.
//
// [Bits] is one raw half. [FromFloat32], [FromFloat64] and [Bits.Float32] convert
// single values, [Encode], [Decode] and [Round] whole slices. All of them give the
// same bits on every processor:
//
//   - Rounding is to nearest, ties to even, and happens once.
//   - A magnitude of 65520 or more becomes an infinity.
//   - Subnormal halves are produced and read exactly; nothing is flushed to zero.
//   - The sign is kept, also of zeros and NaNs.
//   - A NaN stays a NaN: its quiet bit is set, the top bits of its payload are
//     kept and the others dropped.
//
// # Bulk forms
//
// The slice functions run on F16C (amd64, if the operating system supports AVX) or Advanced SIMD (arm64) where the
// processor has them, otherwise in Go. [Accelerated] returns which. They allocate nothing and may run concurrently on
// different slices. The scheduler can preempt them every fraction of a millisecond, so a large tensor does not delay
// the garbage collector.
//
// # Floating-point control registers
//
// No result depends on the rounding mode, flush-to-zero or denormals-are-zero settings of the calling thread, even if C
// code left them changed. On amd64 the rounding mode is part of the instruction. VCVTPS2PH ignores MXCSR.FTZ, and
// VCVTPH2PS ignores MXCSR.DAZ. DAZ can only affect float32 subnormals, which are less than half of the smallest half
// and become zeros anyway. On arm64 the kernels clear FPCR while they run, if it is not clear. The Go code uses
// integers, and one multiplication that is exact in every mode.
package fp16
