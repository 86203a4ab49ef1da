package npy

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/anekit/anekit/internal/wholefile"
)

// firstChunk is how much room the data gets before any of it has arrived, if
// nothing is known of the file's size.
const firstChunk = 1 << 20

// maxFile bounds the files that ReadFile takes: no surface of the engine is
// larger, and a sparse file may claim any size.
const maxFile = 4 << 30

// Accept decides, once the header is read, whether the array is wanted. It is
// asked before any memory is taken for the data. It returns nil or what is wrong.
type Accept func(kind Kind, shape []int) *Error

// Read reads one array from r up to its end, at most limit bytes if limit is
// positive. It takes memory as data arrives, so a header that lies costs none.
// Errors are of type *Error and, for a fault of r, wrap its error.
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

// What is said of a file that the system does not let read.
const cannotRead, checkPath = "cannot read the file", "check the path and its permissions"

// ReadOpen reads the array of an open file, of at most 4 GiB, up to its end. It may
// be a pipe. The name is for errors, which are of type *Error; accept may be nil.
func ReadOpen(f *os.File, name string, accept Accept) (*Array, error) {
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

// read does the work of Read; room is the memory that data may take in advance.
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
			Offset: at, What: fmt.Sprintf("%d bytes of data follow by the header, more than the limit of %d for the "+
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
		return nil, &Error{Offset: at + int64(size), What: "the file goes on after the array",
			Fix: "keep one array in a file, and check that its shape is right"}
	case !errors.Is(err, io.EOF):
		return nil, ended(err, at+int64(size), "the end of the file")
	}
	if h.big {
		swap(data, h.kind.Size())
	}
	return &Array{Kind: h.kind, Shape: h.shape, Fortran: h.fortran, Swapped: h.big, Data: data}, nil
}

// ended makes an Error of one that came up at a byte while reading what.
func ended(err error, at int64, what string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{Offset: at, What: "the file ends within " + what, Fix: "copy or save it again, it is incomplete",
			Err: io.ErrUnexpectedEOF}
	}
	return &Error{Offset: at, What: "cannot read " + what, Fix: "check the file and its device",
		Err: wholefile.Cause(err)}
}
