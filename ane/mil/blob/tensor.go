package blob

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
)

// Tensor returns the payload of the entry at offset as the elements of type t, row-major, in new memory. It makes the
// checks of Find. Errors are those of Find and Data.
func (f *File) Tensor(offset uint64, t mil.Type) ([]byte, error) {
	e, err := f.Find(offset, t)
	if err != nil {
		return nil, err
	}
	return f.Data(e)
}

// Find returns the entry at offset, if it holds a tensor of type t. The error is ErrType if the scalar types differ or
// t is no tensor of fixed shape. It is ErrSize if the payload is not ceil(elements·bits/8) bytes. Shape and type are
// those of the text. As some writers do, the tag of int8 may be fp16 and that of int4 uint4, with a warning.
func (f *File) Find(offset uint64, t mil.Type) (Entry, error) {
	e, err := f.Entry(offset)
	if err != nil {
		return e, err
	}
	want, fault := payload(t)
	at := int64(offset)
	if fault != nil {
		if fault.File, fault.Offset = f.name, at; fault.Err == ErrSize {
			fault.Offset += 8
		}
		return e, fault
	}
	if want.Tag != e.Tag {
		known := t.DType == mil.Int8 && e.Tag.DType() == mil.FP16 || t.DType == mil.Int4 && e.Tag.DType() == mil.UInt4
		if !known {
			return e, f.fault(ErrType, at+4, "declare the type that the file holds, or write the file again",
				"the entry holds %v, the program declares %v", e.Tag, t)
		}
		f.warn("byte %d: %v is tagged %v", at+4, t.DType, e.Tag)
	}
	if e.Size != want.Size {
		return e, f.fault(ErrSize, at+8, "make the declared shape and the file agree",
			"the payload has %d bytes, %v needs %d", e.Size, t, want.Size)
	}
	if e.UnusedBits != want.UnusedBits {
		f.warn("byte %d: %d unused bits, %v leaves %d", at+24, e.UnusedBits, t, want.UnusedBits)
	}
	return e, nil
}

// payload returns how a file holds a tensor: an entry without a place. The error has none either.
func payload(t mil.Type) (Entry, *Error) {
	n, fixed := t.Elements()
	tag, stored := TagOf(t.DType)
	bits := t.DType.Bits()
	switch {
	case !fixed || !stored:
		return Entry{}, refused(ErrType, "use a tensor of fixed shape, of fp16, fp32, bf16 or an integer type up to 32 bits",
			"a weight file cannot hold %v", t)
	case n > (math.MaxInt-7)/bits:
		return Entry{}, refused(ErrSize, "give a smaller shape", "%v is larger than any file", t)
	}
	size := int64(n*bits+7) / 8
	return Entry{Tag: tag, Size: size, UnusedBits: int(size*8 - int64(n)*int64(bits))}, nil
}

// Data returns the payload of e in new memory. The caller may have made e, or taken it from another file. The error is
// ErrBounds for a payload outside of the file, ErrClosed after Close, or that of the system.
func (f *File) Data(e Entry) ([]byte, error) {
	if e.DataOffset < First || e.Size < 0 || e.DataOffset > f.size || e.Size > f.size-e.DataOffset ||
		e.Size > math.MaxInt {
		return nil, f.fault(ErrBounds, -1, "pass an entry that this file returned",
			"a payload of %d bytes at %d does not fit in the file, which has %d", e.Size, e.DataOffset, f.size)
	}
	data := make([]byte, e.Size)
	if err := f.read(data, e.DataOffset); err != nil {
		return nil, err
	}
	return data, nil
}
