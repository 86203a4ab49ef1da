// Package halves computes on tensors of halves in one pass: it decodes, computes and rounds a register at a time,
// or works on the bits of the halves where their order is that of the values.
//
// Every function has one result on every processor, bit for bit, apart from the payload of a NaN that arithmetic
// makes: the assembly and the Go code add in the same order.
package halves
