// Package npy reads and writes NumPy's .npy files, which hold one array, and .npz archives of them.
//
// It reads format versions 1.0, 2.0 and 3.0 with floats (also bfloat16), booleans and integers except uint64, and
// converts big-endian numbers and Fortran order. It rejects anything else (complex, text, structured and Python object types, bytes after
// the data). The [*Error] names the file, the byte and the remedy.
//
// An [Archive] is a zip file of arrays, stored or deflated. The package does not allocate what a file merely declares.
// It reads at most 4 MiB of the list of entries. Of an entry it reads the size in its header, after the caller's
// [Accept] accepted it.
//
// Format: "NEP 1, A Simple File Format for NumPy Arrays", and NumPy's manual, numpy.lib.format.
package npy

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/wholefile"
)

// Array is the content of one .npy file.
type Array struct {
	Type mil.DType
	// Shape has one entry a dimension; it is empty for a scalar. A dimension of 0 makes an empty array.
	Shape []int
	// Data holds the elements in C order, little-endian and without gaps. The Array owns it.
	Data []byte
	// Raw means that the file has bytes without a type, which Read took for bfloat16.
	Raw bool
	// Fortran and Swapped mean that Read converted Fortran order, or big-endian numbers. Write ignores them.
	Fortran, Swapped bool
}

// Error is the only type of error that this package returns.
type Error struct {
	File   string    // name of the file; empty for a writer
	Offset int64     // position in the file; 0 if unknown
	What   string    // the fault
	Fix    string    // the remedy
	Like   mil.DType // the type nearest to one that is not supported, which Fix names; or NoType
	Err    error     // the cause, for instance from the operating system, or nil
}

// fault returns an Error about a position in the file.
func fault(at int, fix, what string, args ...any) *Error {
	return &Error{Offset: int64(at), What: fmt.Sprintf(what, args...), Fix: fix}
}

// Error is one line: FILE: byte N: what: cause; fix.
func (e *Error) Error() string {
	text := cmp.Or(e.File, "npy")
	if e.Offset > 0 {
		text += fmt.Sprintf(": byte %d", e.Offset)
	}
	text += ": " + e.What
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text + "; " + e.Fix
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// inFile sets the file of an *Error, and turns any other error into an *Error. It returns nil for nil.
func inFile(err error, file, what, fix string) error {
	if err == nil {
		return nil
	}
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{What: what, Fix: fix, Err: wholefile.Cause(err)}
	}
	e.File = file
	return e
}
