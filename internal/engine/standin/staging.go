package standin

import (
	"context"
	"slices"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
)

// transfer describes copying one tensor between its surface and the engine's own
// tensor.
type transfer struct {
	here, there  walk // here is on the surface, there in the engine's tensor
	count, size  int64
	room         int  // necessary bytes of the surface
	agrees       bool // both have each element at the same byte, so nothing is copied
	surface, own *unimem.Block
}

// transferOf returns the transfer of a tensor. ok is false if the tensor does not fit
// its placement in the attributes.
func transferOf(p port, own ane.Layout) (t transfer, ok bool) {
	s := p.placement
	room, sized := s.bytes()
	count, counted := s.elements()
	t = transfer{count: count, size: int64(p.dtype.Size()), room: int(room)}
	if !sized || !counted || s.strides[axisW] != t.size || count != int64(own.Elements()) {
		return t, false
	}
	axes, ok := axesOf(p.shape, s.lengths)
	if !ok {
		return t, false
	}
	t.here = walkOf(s, axes)
	if t.there, ok = walkIn(own); !ok {
		return t, false
	}
	t.agrees = t.here.same(t.there) && room >= int64(own.Bytes())
	return t, true
}

// walkIn visits the elements in the engine's layout.
func walkIn(l ane.Layout) (w walk, ok bool) {
	for i, n := range l.Shape {
		at := make([]int, len(l.Shape))
		if n > 1 {
			at[i] = 1
		}
		stride, err := l.Offset(at...)
		if err != nil {
			return nil, false
		}
		w = append(w, axis{int64(n), int64(stride)})
	}
	return w.short(), true
}

// staged runs the engine on its own tensors, with copies before and after.
type staged struct {
	run     ane.Invocation
	mu      sync.Mutex // held during a run, since all runs use the same tensors
	in, out []transfer
}

// Evaluate implements ane.Invocation.
func (s *staged) Evaluate(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.in {
		move(t.own.Bytes(), t.surface.Bytes(), t.there, t.here, t.count, t.size)
	}
	if err := s.run.Evaluate(ctx); err != nil {
		return err
	}
	for _, t := range s.out {
		move(t.surface.Bytes(), t.own.Bytes(), t.here, t.there, t.count, t.size)
	}
	return nil
}

// Close implements ane.Invocation.
func (s *staged) Close() error { return s.run.Close() }

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
