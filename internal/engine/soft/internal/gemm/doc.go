// Package gemm multiplies dense matrices of float32: the inner product of every
// matrix product and convolution of the software engine.
//
// # Order and bits
//
// Each element of the result is one float32 sum along k, from +0, in ascending order. No element depends on how rows
// and columns are grouped, so cutting a product into tiles along m and n, on any number of workers, changes no bit.
//
// The assembly (AVX2 or AVX-512 on amd64, Advanced SIMD on arm64) adds each product with one fused multiply-add. The Go
// code, which runs on all other machines, multiplies, rounds and adds. Both give the same bits whenever the products
// are exact in float32. That holds for all fp16 values: two significands of 11 bits make one of 22, and exponents stay
// far from the limits of float32. For other float32 operands the assembly gives the fused sum and the Go code the
// rounded one. To first order each is within k * 2^-24 * sum(|a*b|) of the exact value.
//
// MulLines alone adds in another order, which its comment has.
//
// # Strips
//
// MulStrips multiplies by a matrix whose columns lie in strips, which its owner copies once for all rows of A. Rows of a
// matrix that is as wide as a page share few lines of the first-level cache; a strip has none of that. AVX2 has kernels
// for it. The bits are those of Mul.
//
// # Rows
//
// Dots multiplies a few vectors by rows of halves as they lie in memory, each decoded once for up to six vectors. Its
// sums have an order of their own.
//
// NaN and infinities propagate as in IEEE 754, no operand is skipped for being
// zero, and subnormals are kept. The processor determines the bits of a NaN.
package gemm
