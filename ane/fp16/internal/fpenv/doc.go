// Package fpenv reads and writes the floating-point control register of the
// calling thread: MXCSR on amd64, FPCR on arm64. Tests of package fp16 use it to
// run conversions in modes that C code may leave behind but Go never sets.
//
// Lock the goroutine to its thread before Set, do little, and put the old value
// back: the Go runtime assumes the defaults. Other processors have no functions
// here.
package fpenv
