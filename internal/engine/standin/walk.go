package standin

import "slices"

// axis is one axis of a walk.
type axis struct{ length, stride int64 }

// walk visits elements in row-major order. Its axes are sorted from the outermost to
// the innermost.
type walk []axis

// walkOf visits the elements of a placement along axes.
func walkOf(s placement, axes []int) (w walk) {
	for _, at := range axes {
		w = append(w, axis{s.lengths[at], s.strides[at]})
	}
	return w.short()
}

// short returns the walk without redundant axes: it drops axes of length 1 and merges
// contiguous ones.
func (w walk) short() (s walk) {
	for _, a := range w {
		if a.length == 1 {
			continue
		}
		if n := len(s); n > 0 && s[n-1].stride == a.length*a.stride {
			s[n-1] = axis{s[n-1].length * a.length, a.stride}
			continue
		}
		s = append(s, a)
	}
	return s
}

// same reports whether two short walks visit the same bytes.
func (w walk) same(v walk) bool { return slices.Equal(w, v) }

// step moves to the next element and returns its offset. index has one number per axis
// of w and starts with zeros.
func (w walk) step(index []int64, offset int64) int64 {
	for i := len(w) - 1; i >= 0; i-- {
		if index[i]++; index[i] < w[i].length {
			return offset + w[i].stride
		}
		index[i] = 0
		offset -= (w[i].length - 1) * w[i].stride
	}
	return offset
}

// move copies count elements of size bytes each from the offsets of walk here to those
// of walk there.
func move(to, from []byte, there, here walk, count, size int64) {
	var toIndex, fromIndex [len(order)]int64
	var toAt, fromAt int64
	for range count {
		copy(to[toAt:toAt+size], from[fromAt:fromAt+size])
		toAt, fromAt = there.step(toIndex[:], toAt), here.step(fromIndex[:], fromAt)
	}
}
