// Package halves computes on tensors of halves in one pass. It decodes, computes and rounds a register at a time, or
// works on the bits of the halves where their order is that of the values. Binary, Decode and Encode also have the
// rules of chips. Their exponent 31 is an ordinary one, so that no operand is infinite or NaN. A result of zero has no
// sign. Results are rounded half away from zero, or to even as on the M1.
//
// Every function has one result on every processor, bit for bit: the assembly and the Go code add in the same order.
// Only the payload of a NaN that arithmetic makes may differ.
package halves
