// Package packed multiplies vectors by matrices of packed integers: the weights of constexpr_blockwise_shift_scale.
// Each integer is in a block with a scale and perhaps an offset. The package expands a few integers at a time, or none.
//
// An element is scale * (integer - offset), computed exactly and rounded once, to fp16.
//
// # Products of elements
//
// Dots sums the products of a row in 64 sums, product k in sum k mod 64, each in float32 and in the order of k, and
// adds neighbouring sums in six rounds. Products of halves are exact in float32, so that the assembly, which fuses
// multiplication and addition, and the Go code give the same bits. With AVX-512 a kernel expands and multiplies; with
// AVX2 one kernel expands a row and another multiplies it; on arm64 Go code expands it. The sum differs from one in
// order by at most k * 2^-23 * sum(|a*b|), to first order.
//
// # Products of integers
//
// Dots does not expand integers of 4 bits in blocks of 32, 64 or a multiple of 128 columns, or of a whole row. Each
// block of the vector, or each 128 columns of a longer one, becomes integers n * unit. unit is 2^-21 times the power of
// two in the greatest element, and n is rounded to even. The integers of the matrix are taken without their sign, u = q
// + 8 if they have one. Column k belongs to lane (k div 8) mod 16. In this order and in float32,
//
//   - lane b mod 16 subtracts (scale * offset + 8 * scale) * sum(n) * unit of block b. Unsigned integers have no 8 *
//     scale. A block of several units adds their sums in order,
//   - each lane adds sum(u * n) of its eight columns times scale * unit, in one operation,
//   - lanes are added in four rounds: 0 and 8, 1 and 9 and so on, then 0 and 4, 0 and 2, 0 and 1.
//
// An element here is scale * (integer - offset) without rounding to fp16. The vector's elements are exact unless they
// are less than 2^-11 of the greatest beside them; then each is off by at most 2^-22 of that one. A row that is 0 where
// the vector is greatest would show that error. Elements with the same unit are a group. So a vector is steep if, of
// some 32 columns, at least half of those that are not 0 are less than 2^-12 of the power of two in their group's
// greatest.
//
// Kernels multiply with AVX-512 VNNI, and with AVX2, FMA and F16C; elsewhere Go code does, with the same bits.
//
// Dots computes products of elements for a row with an element that may be beyond 65504. It does so too for a vector
// that is steep or has an element that is infinite or not a number.
//
// # Products of words
//
// Programs ask for them: see package buildinfo. Tiles multiply some vectors by 16 rows with AVX2: integers of 4 or 8
// bits in blocks of a multiple of 32 columns. Of 8 bits they multiply a single vector too. A panel has the integers of
// the rows side by side, as they are or, where many vectors share the work, in bytes: the products are the same. A
// group of a vector is as many of its columns as divide a block and 128, a
// power of two. It becomes integers n * unit of 16 bits, where unit is 2^-14 times the power of two in its greatest
// element, and n is rounded to even. A vector is steep here if half of some 32 columns are less than 2^-8 of that. What
// the integers of a steep vector leave becomes integers in the same way, which are added last. Other elements are off
// by at most 2^-15 of their group's greatest. In float32, and with each product and sum in one operation,
//
//   - a sum starts at 0. For each block in order it adds sum(u * n) * (scale * unit) of each group, then subtracts
//     scale * offset times the sum of n * unit. u are integers without a sign: to others 2^(bits-1) is added, here and
//     to the offset,
//   - a single vector has eight such sums without offsets and one with those alone, and takes integers as they are. Lane
//     (k div 2) mod 8 has column k. Lanes are added in three rounds, 0 and 4 and so on, then the one of offsets.
//
// Product has the rows and vectors that Dots computes as products of elements.
package packed
