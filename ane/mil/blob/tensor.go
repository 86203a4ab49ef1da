package blob

import (
	"fmt"
	"math"

	"github.com/anekit/anekit/ane/mil"
)

// Tensor returns the payload of the entry at offset as the elements of type t,
// row-major, in new memory. It makes the checks of Find.
func (f *File) Tensor(offset uint64, t mil.Type) ([]byte, error) {
	e, err := f.Find(offset, t)
	if err != nil {
		return nil, err
	}
	return f.Data(e)
}

// Find returns the entry at offset after checking that it holds a tensor of
// type t: ErrType if the scalar types differ or t is no tensor of fixed shape,
// ErrSize if the payload is not ceil(elements·bits/8) bytes. Shape and type are
// those of the text. As some writers do, the tag of int8 may be fp16 and that of int4
// uint4, with a warning.
func (f *File) Find(offset uint64, t mil.Type) (Entry, error) {
	e, err := f.Entry(offset)
	if err != nil {
		return e, err
	}
	tag, want, spare, fault := payload(t)
	switch {
	case fault != nil && fault.Err == ErrSize:
		return e, f.fault(ErrSize, int64(offset)+8, fault.Msg, fault.Hint)
	case fault != nil:
		return e, f.fault(fault.Err, int64(offset), fault.Msg, fault.Hint)
	case tag != e.Tag && !f.tolerated(e, t.DType):
		return e, f.fault(ErrType, int64(offset)+4,
			fmt.Sprintf("the entry holds %v, the program declares %v", e.Tag, t),
			"declare the type that the file holds, or write the file again")
	case e.Size != want:
		return e, f.fault(ErrSize, int64(offset)+8,
			fmt.Sprintf("the payload has %d bytes, %v needs %d", e.Size, t, want),
			"make the declared shape and the file agree")
	case e.UnusedBits != spare:
		f.warn("byte %d: %d unused bits, %v leaves %d", offset+24, e.UnusedBits, t, spare)
	}
	return e, nil
}

// payload returns how a file holds a tensor: the tag, the bytes, and the unused bits of the last one. The error has no
// place.
func payload(t mil.Type) (tag Tag, size int64, spare int, fault *Error) {
	n, fixed := t.Elements()
	tag, stored := TagOf(t.DType)
	bits := t.DType.Bits()
	switch {
	case !fixed || !stored:
		fault = refused(ErrType, "use a tensor of fixed shape, of fp16, fp32, bf16 or an integer type up to 32 bits",
			"a weight file cannot hold %v", t)
	case n > (math.MaxInt-7)/bits:
		fault = refused(ErrSize, "give a smaller shape", "%v is larger than any file", t)
	default:
		size = int64(n*bits+7) / 8
		spare = int(size*8 - int64(n)*int64(bits))
	}
	return tag, size, spare, fault
}

// tolerated reports whether known writers use the tag of e for d.
func (f *File) tolerated(e Entry, d mil.DType) bool {
	tag := e.Tag.DType()
	if d == mil.Int8 && tag == mil.FP16 || d == mil.Int4 && tag == mil.UInt4 {
		f.warn("byte %d: %v is tagged %v", e.Offset+4, d, tag)
		return true
	}
	return false
}

// Data returns the payload of e in new memory.
func (f *File) Data(e Entry) ([]byte, error) {
	if err := f.within(e); err != nil {
		return nil, err
	}
	data := make([]byte, e.Size)
	if err := f.read(data, e.DataOffset); err != nil {
		return nil, err
	}
	return data, nil
}

// ReadData fills dst with the payload of e; dst must have e.Size bytes.
func (f *File) ReadData(e Entry, dst []byte) error {
	if err := f.within(e); err != nil {
		return err
	}
	if int64(len(dst)) != e.Size {
		return f.fault(ErrSize, int64(e.Offset), fmt.Sprintf("a slice of %d bytes for a payload of %d", len(dst),
			e.Size), "give a slice as long as the payload")
	}
	return f.read(dst, e.DataOffset)
}

// within checks an entry, which the caller may have made or taken from another file.
func (f *File) within(e Entry) error {
	if e.DataOffset < First || e.Size < 0 || e.DataOffset > f.size || e.Size > f.size-e.DataOffset ||
		e.Size > math.MaxInt {
		return f.fault(ErrBounds, -1, fmt.Sprintf("a payload of %d bytes at %d does not fit in the file, which has %d",
			e.Size, e.DataOffset, f.size), "pass an entry that this file returned")
	}
	return nil
}
