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
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

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

// Write writes a to w, byte for byte as numpy.save does in version 1.0. Errors are of type *Error and wrap an error of
// w. After an error w may hold a part of the file.
func Write(w io.Writer, a *Array) error {
	n, ok := mil.TensorOf(a.Type, a.Shape...).Elements()
	if codes[a.Type] == "" || !ok || n*a.Type.Size() != len(a.Data) || len(a.Shape) > maxDimensions {
		return fault(0, "give an array of another type or shape", "%d bytes as %s of shape %v do not fit a .npy file",
			len(a.Data), Name(a.Type), a.Shape)
	}
	_, err := io.Copy(w, io.MultiReader(bytes.NewReader(appendHeader(a)), bytes.NewReader(a.Data)))
	return unwritten(err)
}

// Member is an array that WriteArchive writes.
type Member struct {
	Key   string
	Array *Array
}

// WriteArchive writes an .npz file as numpy.savez does: the members in their order, not compressed. Errors are of type
// *Error and wrap an error of w. After an error w may hold a part of the file.
func WriteArchive(w io.Writer, members []Member) error {
	z := zip.NewWriter(w)
	for _, m := range members {
		entry, err := z.CreateHeader(&zip.FileHeader{Name: m.Key + suffix, Method: zip.Store})
		if err == nil {
			err = Write(entry, m.Array)
		}
		if err != nil {
			return unwritten(err)
		}
	}
	return unwritten(z.Close())
}

func unwritten(err error) error {
	return inFile(err, "", "cannot write the array", "check the space and permissions at the destination")
}
