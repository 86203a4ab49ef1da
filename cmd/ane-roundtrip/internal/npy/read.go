package npy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/wholefile"
)

// firstChunk is the number of bytes that read allocates for data before it arrives, if the size of the file is unknown.
const firstChunk = 1 << 20

// maxData is the most bytes of an array. No surface of the engine is larger, but a sparse file may be.
const maxData = 4 << 30

// Accept checks the header of an array before the reader allocates memory for the data. It returns nil, or the reason
// to reject the array.
type Accept func(t mil.DType, shape []int) *Error

// ReadOpen reads the array of an open file, which may be a pipe, up to its end; accept may be nil. The array may have
// 4 GiB. It allocates memory as data arrives, not for the size that the header declares. Errors are of type *Error,
// contain name and wrap an error of f.
func ReadOpen(f fs.File, name string, accept Accept) (a *Array, err error) {
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fault(0, "name a .npy file", "is a folder")
	}
	if err == nil {
		room := int64(firstChunk)
		if info.Mode().IsRegular() {
			room = info.Size()
		}
		a, err = read(f, room, accept)
	}
	return a, inFile(err, name, "cannot read the file", "check the path and its permissions")
}

// read reads the array of r up to its end. room is the number of bytes to allocate before data arrives.
func read(r io.Reader, room int64, accept Accept) (*Array, error) {
	a, at, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	each := a.Type.Size()
	elements, ok := mil.TensorOf(a.Type, a.Shape...).Elements()
	size := int64(elements) * int64(each)
	if !ok || int64(elements) > maxData/int64(each) {
		return nil, fault(at, "save a smaller array", "the header declares %s of shape %v, more than %d bytes of data",
			Name(a.Type), a.Shape, int64(maxData))
	}
	if accept != nil {
		if e := accept(a.Type, a.Shape); e != nil {
			return nil, e
		}
	}
	var data bytes.Buffer
	data.Grow(int(min(size, room)) + bytes.MinRead)
	n, err := io.CopyN(&data, r, size+1)
	switch {
	case n > size:
		return nil, fault(at+int(size), "save one array per file, and check its shape",
			"the file continues after the array")
	case n < size || !errors.Is(err, io.EOF):
		return nil, ended(err, at+int(n), fmt.Sprintf("%d bytes of data (%v of %s)", size, a.Shape, Name(a.Type)))
	}
	a.Data = data.Bytes()
	if a.Fortran && size > 0 {
		a.Data = toC(make([]byte, 0, size), a.Data, each, each, a.Shape)
	}
	if a.Swapped {
		for one := range slices.Chunk(a.Data, each) {
			slices.Reverse(one)
		}
	}
	return a, nil
}

// ended returns the Error for an error at a byte of what.
func ended(err error, at int, what string) error {
	e := fault(at, "check the file and its device", "cannot read %s", what)
	e.Err = wholefile.Cause(err)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		e = fault(at, "copy or save it again, it is incomplete", "the file ends within %s", what)
		e.Err = io.ErrUnexpectedEOF
	}
	return e
}

// toC appends the elements of an array in Fortran order, in which the first index varies fastest, to dst in C order.
// Elements have size bytes, and their neighbors along the first axis are stride bytes apart.
func toC(dst, src []byte, size, stride int, shape []int) []byte {
	if len(shape) == 0 {
		return append(dst, src[:size]...)
	}
	for i := range shape[0] {
		dst = toC(dst, src[i*stride:], size, stride*shape[0], shape[1:])
	}
	return dst
}
