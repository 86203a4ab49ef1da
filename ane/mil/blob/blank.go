package blob

import (
	"cmp"
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
	_, size, _, fault := payload(n.Type)
	if fault != nil {
		fault.Offset = int64(n.Offset)
		return 0, fault
	}
	return size, nil
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
		tag, size, spare, fault := payload(n.Type)
		if fault != nil {
			return fail(n, fault.Err, fault.Msg, fault.Hint)
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
		e := Entry{Offset: n.Offset, Tag: tag, DataOffset: int64(n.Offset) + metaSize, Size: size, UnusedBits: spare}
		entries = append(entries, e)
		end = e.end()
	}
	file := make([]byte, end)
	copy(file, encoded(header{Count: uint32(len(entries)), Version: version}))
	for _, e := range entries {
		copy(file[e.Offset:], e.meta())
	}
	return file, nil
}
