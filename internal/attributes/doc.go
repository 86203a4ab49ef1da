// Package attributes reads the modelAttributes of a compiled program. They list its procedures, and for each tensor the
// symbol index and the layout on the surface.
//
// The form is that of dumps from real machines (testdata/dumps). ANEFModelDescription has the names of all symbols and,
// for each procedure, the indices of its symbols. NetworkStatusList has an entry with type, axes and strides for each
// tensor. The status that Apple's compiler prints has only NetworkStatusList. Its entries are then in the order of the
// symbols, as in every dump that has both.
//
// The reader does not guess. A contradiction, a missing value or a wrong kind of value is
// an *Error with its place. Reading takes time and memory proportional to the length of
// the lists.
package attributes
