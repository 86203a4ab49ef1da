// Package numerics is the arithmetic of the Apple Neural Engine as functions. It has what one chip makes of a product,
// a sum, a rounding and a table function, bit for bit where measured.
//
// A [Mode] names a chip. [Reference] is no chip: it is IEEE arithmetic with sums in fp32 and one rounding
// to nearest even. [M1] is the H13, [M2] the H14, [M4] the H16g, [M5] the H17, [M6] the H18g.
// [Rules] are the single properties in which a chip differs from Reference; a Mode is a set of them, and
// a caller may take one away to see what it does.
//
// # Sources
//
// Each constant names where it comes from:
//
//   - MS: 751K/Apple-Neural-Engine-Microarchitecture-Study-M6, chapter 8 (M6, macOS 27.0.1, one block repeated on the
//     M4). The probes in testdata are its data;
//   - AG: sbryngelson/ane-guide (M1);
//   - AF: sbryngelson/ANEForge (M2 Pro, M5);
//   - JW: joshuaswarren/omarchy-ane, omarchy-mlx and ane-linux-experiments (M1, M1 Max and M2 Max under Linux). It
//     publishes shares of exact elements and relative errors, no bits; the tests hold the modes to them;
//   - reproduced: found by simulation against numbers that one of them publishes;
//   - inferred: the choice of this package where nothing is published.
//
// # What is not known
//
// The values of the gelu and silu tables are not published. Both are computed exactly and rounded, within 7e-3 on [-8,
// 8] and 1.6e-2 on [-12, 12] of the hardware (MS table 8-6). The order in which a layer with several passes hands its
// partial sums on is unknown, so the bits of a whole network are not promised.
package numerics
