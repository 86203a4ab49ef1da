// Package numbers computes with halves as the chips do: the exponent 31 is an ordinary one, so that there are neither
// infinities nor NaN among the operands, zero has no sign in results, and results are rounded half away from zero,
// or to even as on the M1. On amd64 with AVX2 and FMA it computes sixteen halves at once.
package numbers
