package ane

import "fmt"

// Slice returns a view of the elements [from, to) along one axis of Shape; a negative
// axis counts from the last. The view shares the memory of t and keeps its strides; it is
// valid as long as t.
//
// A slice can be bound if it has the program's layout, such as a part of the outermost axis longer than 1. It has to
// start at byte 0 of its surface, or at a multiple of RowAlign if Info.Offsets is true. Two slices share memory if
// their ranges from first to last byte overlap.
//
// The error is ErrShape for an axis or a range that t does not have.
func (t *Tensor) Slice(axis, from, to int) (*Tensor, error) {
	t = orZero(t)
	if _, err := t.bytes("slice"); err != nil {
		return nil, err
	}
	l := t.layout.clone()
	bad := func(format string, args ...any) error {
		return &Error{Op: "slice", Name: l.Name, Err: ErrShape, Detail: fmt.Sprintf(format, args...)}
	}
	rank := len(l.Shape)
	if axis < 0 {
		axis += rank
	}
	if axis < 0 || axis >= rank {
		return nil, bad("axis %d of %v", axis, l.Shape)
	}
	if from < 0 || from >= to || to > l.Shape[axis] {
		return nil, bad("%d to %d on axis %d of %v", from, to, axis, l.Shape)
	}
	start := make([]int, rank)
	start[axis] = from
	offset, err := l.Offset(start...)
	if err != nil {
		return nil, err
	}
	order := l.order()
	axes, _ := l.assign(order) // Offset found them
	if l.Shape[axis] > 1 {
		*l.length(axes[axis]) = to - from
	}
	l.Shape[axis] = to - from
	if l.Depth > 1 && l.Channels > 1 && l.order() != order {
		return nil, bad("depth and channels of %v have one length, so their order is ambiguous", l.Shape)
	}
	if l.Batches == 1 {
		l.BatchStride = l.span()
	}
	if err := l.Check(); err != nil {
		return nil, err
	}
	view := *t
	view.layout, view.offset, view.at = l, t.offset+offset, t.at+offset
	view.size = min(l.Bytes(), t.size-offset)
	return &view, nil
}

// span is the largest extent in bytes of an axis inside the batches.
func (l *Layout) span() int {
	n := l.RowStride
	for _, axis := range []int{axisH, axisC, axisD} {
		if count := *l.length(axis); count > 1 {
			n = max(n, count*l.stride(axis))
		}
	}
	return n
}
