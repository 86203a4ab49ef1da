// Package gemm multiplies dense matrices of float32: the inner product of every
// matrix product and convolution of the software engine.
//
// # Order and bits
//
// Each element of the result is one sum along k, from +0, in ascending order,
// held in float32. No element depends on how rows and columns are grouped, so
// cutting a product into tiles along m and n, on any number of workers, leaves
// every bit as it was.
//
// The assembly (AVX2 or AVX-512 on amd64, Advanced SIMD on arm64) adds each
// product with one fused multiply-add. The Go code, which serves all other
// machines, multiplies, rounds and adds. The two agree bit by bit whenever the
// products are exact in float32. That is so for all fp16 values: two
// significands of 11 bits make one of 22, and exponents stay far from the ends
// of float32. Other float32 operands give the fused sum where there is
// assembly and the rounded one elsewhere, each within k * 2^-24 * sum(|a*b|) of
// the exact value, to first order.
//
// BenchmarkMul beside BenchmarkMulFloor on Sapphire Rapids: AVX-512 does twice
// the work of AVX2, which is why there are both, and deep tiles of 32 rows
// come within a tenth of what the same instructions do on first-level cache
// alone. Products of one column, or of 4 to 7 rows with AVX-512, stay far below.
//
// NaN and infinities propagate as IEEE 754 says, no operand is skipped for being
// zero, and subnormals are kept. Which bits a NaN carries is the processor's
// choice.
package gemm
