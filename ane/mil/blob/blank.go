package blob

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// Need is a tensor that a program expects in a weight file.
type Need struct {
	Offset uint64 // of the entry, as a BLOBFILE names it
	Type   mil.Type
}

// Bytes returns the size of the tensor's payload. The error is ErrType for a type
// that weight files do not hold, ErrSize for a tensor larger than any file.
func (n Need) Bytes() (int64, error) {
	elements, fixed := n.Type.Elements()
	if _, stored := TagOf(n.Type.DType); !fixed || !stored {
		return 0, &Error{Offset: int64(n.Offset), Msg: fmt.Sprintf("a weight file cannot hold %v", n.Type),
			Hint: "use a tensor of fixed shape, of fp16, fp32, bf16 or an integer type up to 32 bits", Err: ErrType}
	}
	bits := n.Type.DType.Bits()
	if elements > (math.MaxInt-7)/bits {
		return 0, &Error{Offset: int64(n.Offset), Msg: fmt.Sprintf("%v is larger than any file", n.Type),
			Hint: "give a smaller shape", Err: ErrSize}
	}
	return int64(elements*bits+7) / 8, nil
}

// Blank returns a weight file of at most limit bytes with an entry of zeros for every
// need. Equal needs share an entry; overlapping needs are ErrEntry. name is the name
// of the file in errors.
func Blank(name string, limit int64, needs []Need) ([]byte, error) {
	fail := func(n Need, sentinel error, msg, hint string) ([]byte, error) {
		return nil, &Error{File: name, Offset: int64(min(n.Offset, math.MaxInt64)), Msg: msg, Hint: hint, Err: sentinel}
	}
	needs = slices.Clone(needs)
	slices.SortStableFunc(needs, func(a, b Need) int { return cmp.Compare(a.Offset, b.Offset) })
	var entries []Entry
	end := int64(headerSize)
	for i, n := range needs {
		if i > 0 && n.Offset == needs[i-1].Offset && n.Type.Same(needs[i-1].Type) {
			continue
		}
		size, err := n.Bytes()
		if err != nil {
			var fault *Error // the only type of error of Bytes
			if errors.As(err, &fault) {
				fault.File = name
			}
			return nil, err
		}
		switch {
		case n.Offset > uint64(limit) || size > limit-metaSize-int64(n.Offset):
			return fail(n, ErrSize, fmt.Sprintf("%v at %d makes a file of more than %d bytes", n.Type, n.Offset,
				limit), "use the real file")
		case n.Offset < First:
			return fail(n, ErrOffset, fmt.Sprintf("offset %d lies in the header of the file", n.Offset),
				"the first entry is at 64")
		case int64(n.Offset) < end:
			return fail(n, ErrEntry, fmt.Sprintf("%v at %d overlaps the entry before it, which ends at %d", n.Type,
				n.Offset, end), "use the real file")
		}
		tag, _ := TagOf(n.Type.DType) // Bytes has checked the type
		e := Entry{Offset: n.Offset, Tag: tag, DataOffset: int64(n.Offset) + metaSize, Size: size}
		elements, _ := n.Type.Elements()
		e.UnusedBits = int(size*8 - int64(elements)*int64(n.Type.DType.Bits()))
		entries = append(entries, e)
		end = e.end()
	}
	file := make([]byte, end)
	binary.LittleEndian.PutUint32(file, uint32(len(entries)))
	binary.LittleEndian.PutUint32(file[4:], version)
	for _, e := range entries {
		copy(file[e.Offset:], e.meta())
	}
	return file, nil
}
