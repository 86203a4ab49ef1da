// Package fpenv reads and writes the floating-point control register of the
// calling thread: MXCSR on amd64, FPCR on arm64. Tests of package fp16 use it to
// run conversions in modes that C code may leave set but Go never sets.
//
// Lock the goroutine to its thread before Set, and restore the old value soon: the Go
// runtime assumes the defaults. The package has no functions for other processors.
package fpenv
