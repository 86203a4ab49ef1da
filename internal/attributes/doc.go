// Package attributes reads the modelAttributes of a compiled program: the procedures
// it has, the tensors of each under their symbol index, and where the elements of a
// tensor stand on its surface.
//
// The form is that of dumps from real machines (testdata/dumps). ANEFModelDescription
// has the names of all symbols and, for each procedure, the indices of those it uses;
// NetworkStatusList has types, axes and strides in an entry for each tensor. The status
// that Apple's compiler prints has NetworkStatusList alone: the order of its entries is
// then that of the symbols, as in every dump that has both.
//
// Nothing is guessed. What contradicts itself, is missing or is of another kind is an
// *Error that names its place. Reading costs time and memory in proportion to the
// length of the lists.
package attributes
