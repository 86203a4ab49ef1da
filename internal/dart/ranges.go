package dart

import (
	"slices"
	"sort"
)

// Range is a run of device addresses [At, At+Size), in whole pages.
type Range struct{ At, Size uint64 }

// ranges are free addresses: by address, none empty, no two adjacent.
type ranges []Range

// take removes the lowest Range of size bytes.
func (f *ranges) take(size uint64) (Range, bool) {
	for i, r := range *f {
		if r.Size >= size {
			f.cut(i, size)
			return Range{r.At, size}, true
		}
	}
	return Range{}, false
}

// part removes the largest Range, or its first size bytes if it is larger.
func (f *ranges) part(size uint64) (Range, bool) {
	best := -1
	for i, r := range *f {
		if best < 0 || r.Size > (*f)[best].Size {
			best = i
		}
	}
	if best < 0 {
		return Range{}, false
	}
	r := (*f)[best]
	r.Size = min(r.Size, size)
	f.cut(best, r.Size)
	return r, true
}

// cut removes the first size bytes of Range i.
func (f *ranges) cut(i int, size uint64) {
	r := &(*f)[i]
	if r.At, r.Size = r.At+size, r.Size-size; r.Size == 0 {
		*f = slices.Delete(*f, i, i+1)
	}
}

// give adds what take has removed and joins it with its free neighbors.
func (f *ranges) give(r Range) {
	s := *f
	i := sort.Search(len(s), func(i int) bool { return s[i].At > r.At })
	if i < len(s) && r.At+r.Size == s[i].At {
		s[i].At, s[i].Size = r.At, s[i].Size+r.Size
	} else {
		s = slices.Insert(s, i, r)
	}
	if i > 0 && s[i-1].At+s[i-1].Size == s[i].At {
		s[i-1].Size += s[i].Size
		s = slices.Delete(s, i, i+1)
	}
	*f = s
}
