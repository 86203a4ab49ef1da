package standin

import (
	"context"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
)

// transfer is how one tensor goes between its surface and a tensor of the engine's own.
type transfer struct {
	here, there  walk // on the surface, and in the engine's tensor
	count, size  int64
	room         int  // bytes that the surface has to have
	agrees       bool // both have each element at the same byte: nothing needs copying
	surface, own *unimem.Block
}

// transferOf returns how a tensor is copied. ok is false where the place that the
// attributes give it cannot hold it.
func transferOf(p port, own ane.Layout) (t transfer, ok bool) {
	s := p.spot
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

// walkIn visits the elements where the engine has them.
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

// staged is a run of the engine on tensors of its own, with copies before and after.
type staged struct {
	run     ane.Invocation
	mu      sync.Mutex // one run at a time uses the tensors
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
