package blob

import (
	"cmp"
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
	e, fault := payload(n.Type)
	if fault != nil {
		fault.Offset = int64(n.Offset)
		return 0, fault
	}
	return e.Size, nil
}

// Blank returns a weight file of at most limit bytes with an entry of zeros for every need. Equal needs share an entry;
// overlapping needs are ErrEntry. name is the name of the file in errors.
func Blank(name string, limit int64, needs []Need) ([]byte, error) {
	needs = slices.Clone(needs)
	slices.SortStableFunc(needs, func(a, b Need) int { return cmp.Compare(a.Offset, b.Offset) })
	var entries []Entry
	end := int64(headerSize)
	for i, n := range needs {
		if i > 0 && n.Offset == needs[i-1].Offset && n.Type.Same(needs[i-1].Type) {
			continue
		}
		e, fault := payload(n.Type)
		at := int64(min(n.Offset, math.MaxInt64))
		switch {
		case fault != nil:
		case n.Offset > uint64(limit) || e.Size > limit-metaSize-at:
			fault = refused(ErrSize, "use the real file", "%v at %d makes a file of more than %d bytes", n.Type, n.Offset,
				limit)
		case n.Offset < First:
			fault = refused(ErrOffset, "the first entry is at 64", "offset %d lies in the header of the file", n.Offset)
		case at < end:
			fault = refused(ErrEntry, "use the real file", "%v at %d overlaps the entry before it, which ends at %d",
				n.Type, n.Offset, end)
		}
		if fault != nil {
			fault.File, fault.Offset = name, at
			return nil, fault
		}
		e.Offset, e.DataOffset = n.Offset, at+metaSize
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
