package ane

import "fmt"

// Slice is a view of the elements from to to-1 along one axis of Shape; a negative axis
// counts from the last. It shares the memory of t and dies with it; nothing is copied, and
// strides stay what they are.
//
// A slice can be bound where its layout is what the program demands, as for a part of the
// outermost axis that is longer than 1, and where its first byte is byte 0 of the surface,
// or Info.Offsets is true and it starts at a multiple of RowAlign. Two slices count as
// sharing memory when the bytes from the first to the last of one meet those of the other.
//
// The error is ErrShape for an axis or a range that t does not have.
func (t *Tensor) Slice(axis, from, to int) (*Tensor, error) {
	t = t.orZero()
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
		return nil, bad("%v has depth and channels of one length, which a layout cannot tell apart", l.Shape)
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

// span is how many bytes the longest stride below the batches steps over.
func (l *Layout) span() int {
	n := l.RowStride
	for _, axis := range []int{axisH, axisC, axisD} {
		if count := *l.length(axis); count > 1 {
			n = max(n, count*l.stride(axis))
		}
	}
	return n
}
