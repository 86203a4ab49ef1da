package npy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/anekit/anekit/internal/wholefile"
)

// firstChunk is the number of bytes that read allocates for data before it arrives, if the size of the
// file is unknown.
const firstChunk = 1 << 20

// maxFile is the most bytes of a file for ReadFile. No surface of the engine is larger, but a sparse
// file may be.
const maxFile = 4 << 30

// Accept checks the header of an array before the reader allocates memory for the data. It returns nil,
// or the reason to reject the array.
type Accept func(kind Kind, shape []int) *Error

// Read reads one array from r up to its end, at most limit bytes if limit is positive. It allocates
// memory as data arrives, not for the size that the header declares. Errors are of type *Error and wrap
// an error of r.
func Read(r io.Reader, limit int64) (*Array, error) { return read(r, limit, firstChunk, nil) }

// ReadFile reads the array of a file of at most 4 GiB. Errors are of type *Error.
func ReadFile(path string) (*Array, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, inFile(err, path, cannotRead, checkPath)
	}
	defer f.Close()
	return ReadOpen(f, path, nil)
}

// Fault and remedy of a file that the system cannot read.
const cannotRead, checkPath = "cannot read the file", "check the path and its permissions"

// ReadOpen reads the array of an open file of at most 4 GiB, which may be a pipe, up to its end. accept
// may be nil. Errors are of type *Error and contain name.
func ReadOpen(f fs.File, name string, accept Accept) (*Array, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, inFile(err, name, cannotRead, checkPath)
	}
	if info.IsDir() {
		return nil, &Error{File: name, What: "is a folder", Fix: "name a .npy file"}
	}
	room := int64(firstChunk)
	if info.Mode().IsRegular() {
		if info.Size() > maxFile {
			return nil, &Error{File: name, What: fmt.Sprintf("the file has %d bytes, more than %d", info.Size(),
				int64(maxFile)), Fix: "save a smaller array"}
		}
		room = info.Size()
	}
	a, err := read(f, maxFile, room, accept)
	if err != nil {
		return nil, inFile(err, name, cannotRead, checkPath)
	}
	return a, nil
}

// read is Read with the number of bytes to allocate before data arrives.
func read(r io.Reader, limit, room int64, accept Accept) (*Array, error) {
	h, at, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	size, err := dataSize(h.kind, h.shape)
	if err != nil {
		var e *Error
		errors.As(err, &e)
		e.Offset = h.shapeAt
		return nil, e
	}
	if accept != nil {
		if e := accept(h.kind, h.shape); e != nil {
			return nil, e
		}
	}
	if limit > 0 && (at > limit || int64(size) > limit-at) {
		return nil, &Error{
			Offset: at, What: fmt.Sprintf("the header declares %d bytes of data, more than the limit of %d for the "+
				"file", size, limit),
			Fix: "save a smaller array",
		}
	}
	data := make([]byte, 0, min(int64(size), room))
	for len(data) < size {
		if len(data) == cap(data) {
			data = slices.Grow(data, min(size-len(data), max(len(data), firstChunk)))
		}
		next := data[len(data):min(cap(data), size)]
		n, err := io.ReadFull(r, next)
		data = data[:len(data)+n]
		if err != nil {
			return nil, ended(err, at+int64(len(data)), fmt.Sprintf("%d bytes of data (%s of %s)", size,
				shapeText(h.shape), h.kind))
		}
	}
	var extra [1]byte
	switch _, err := io.ReadFull(r, extra[:]); {
	case err == nil:
		return nil, &Error{Offset: at + int64(size), What: "the file continues after the array",
			Fix: "save one array per file, and check its shape"}
	case !errors.Is(err, io.EOF):
		return nil, ended(err, at+int64(size), "the end of the file")
	}
	if h.big {
		swap(data, h.kind.Size())
	}
	return &Array{Kind: h.kind, Shape: h.shape, Fortran: h.fortran, Swapped: h.big, Data: data}, nil
}

// ended returns the Error for an error at a byte of what.
func ended(err error, at int64, what string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{Offset: at, What: "the file ends within " + what, Fix: "copy or save it again, it is incomplete",
			Err: io.ErrUnexpectedEOF}
	}
	return &Error{Offset: at, What: "cannot read " + what, Fix: "check the file and its device",
		Err: wholefile.Cause(err)}
}
