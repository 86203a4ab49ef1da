// Package blas multiplies matrices of float32 where they lie: on spans of a Tape, cells of a Grid or other bytes of a
// Block. It calls the system's library for its CPU: Accelerate on macOS, which uses the matrix units of Apple silicon
// (AMX, SME), and OpenBLAS on Linux.
//
//	l, err := blas.Open()
//	a, err := blas.Take(tape, 128, 64)   // 64-byte aligned, not zeroed
//	b, err := blas.Take(tape, 64, 32)
//	c, err := blas.Take(tape, 128, 32)
//	...                                  // the CPU, the GPU or the engine writes a.Data and b.Data
//	err = l.Product(c, a, b)             // c = a b, in place: no matrix is copied
//
// # Values
//
// Sums are float32, in an order that the library chooses and that may differ by the number of its threads. So two
// libraries differ by about the square root of the inner dimension times 2^-24 of the sum of magnitudes. Product does
// not read the destination: NaN in it does not matter.
//
// # Threads
//
// All calls are safe for concurrent use; the caller has to synchronize accesses to the matrices. OpenBLAS starts its
// threads when it is loaded: the environment variable OPENBLAS_NUM_THREADS, for Accelerate VECLIB_MAXIMUM_THREADS,
// limits them. A loaded library stays until the process ends.
//
// # Systems
//
// The package calls C functions through purego, without cgo in the source. A program that imports it on Linux links the
// C library and has to be built with CGO_ENABLED=1. In other builds, and on Windows, Open returns ErrUnavailable. It is
// tested on Linux with Debian's libopenblas0. On macOS it is type-checked and has never been run.
package blas
