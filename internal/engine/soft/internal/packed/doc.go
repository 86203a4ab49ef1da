// Package packed multiplies vectors by matrices of packed integers, each in a block with a scale and perhaps an
// offset: the weights of constexpr_blockwise_shift_scale. It expands a few of them at a time.
//
// An element is scale * (integer - offset), computed exactly and rounded once, to fp16.
//
// # Order and bits
//
// Dots sums the products of a row in 64 sums, product k in sum k mod 64, each in float32 and in the order of k, and
// adds neighbouring sums in six rounds. Products of halves are exact in float32, so that the assembly, which
// fuses multiplication and addition, and the Go code give the same bits. With AVX-512 a kernel expands and multiplies;
// with AVX2 and on arm64 Go code expands a row and a kernel multiplies it. The sum differs from one in
// order by at most k * 2^-23 * sum(|a*b|), to first order.
package packed
