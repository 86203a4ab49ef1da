package ane

import "fmt"

// The axes of the engine, in the order of nesting. Source: reference dumps of M1 and M5,
// in which DepthStride is Channels*PlaneStride.
const (
	axisN = iota
	axisD
	axisC
	axisH
	axisW
)

// textAxes has the default axes of a shape of each rank.
var textAxes = [MaxRank + 1][]int{
	{}, {axisW}, {axisH, axisW}, {axisC, axisH, axisW}, {axisN, axisC, axisH, axisW},
	{axisN, axisD, axisC, axisH, axisW},
}

// Orders of the engine's axes, slowest first. The second is for a program with the
// order N, C, D, H, W.
var (
	depthOutside = [MaxRank]int{axisN, axisD, axisC, axisH, axisW}
	depthInside  = [MaxRank]int{axisN, axisC, axisD, axisH, axisW}
)

// length returns the number of elements along an axis.
func (l *Layout) length(axis int) *int {
	switch axis {
	case axisN:
		return &l.Batches
	case axisD:
		return &l.Depth
	case axisC:
		return &l.Channels
	case axisH:
		return &l.Height
	}
	return &l.Width
}

// strideField is the stride of an axis other than W.
func (l *Layout) strideField(axis int) *int {
	switch axis {
	case axisN:
		return &l.BatchStride
	case axisD:
		return &l.DepthStride
	case axisC:
		return &l.PlaneStride
	}
	return &l.RowStride
}

// stride returns the bytes between neighbors along an axis.
func (l *Layout) stride(axis int) int {
	if axis == axisW {
		return l.DType.Size()
	}
	return *l.strideField(axis)
}

// order is the order of the axes in Shape.
func (l *Layout) order() [MaxRank]int {
	if l.Depth > 1 && l.Channels > 1 { // otherwise both orders are the same
		if _, ok := l.assign(depthOutside); !ok {
			return depthInside
		}
	}
	return depthOutside
}

// axes finds the engine's axis for each axis of Shape, see assign.
func (l *Layout) axes() (axes [MaxRank]int, ok bool) { return l.assign(l.order()) }

// assign finds the engine's axis for each axis of Shape, both in order. It skips axes of
// length 1 on both sides, except that rank 4 is N, C, H, W. ok is false if the lengths
// differ.
func (l *Layout) assign(order [MaxRank]int) (axes [MaxRank]int, ok bool) {
	if len(l.Shape) > MaxRank || order == depthInside && len(l.Shape) < MaxRank {
		return axes, false
	}
	if len(l.Shape) == 4 {
		for i, axis := range textAxes[4] {
			if axes[i] = axis; *l.length(axis) != l.Shape[i] {
				return axes, false
			}
		}
		return axes, l.Depth == 1
	}
	next := 0
	for i, n := range l.Shape {
		axes[i] = axisW // of length 1: its index is 0
		if n == 1 {
			continue
		}
		for next < MaxRank && *l.length(order[next]) == 1 {
			next++
		}
		if next == MaxRank || *l.length(order[next]) != n {
			return axes, false
		}
		axes[i] = order[next]
		next++
	}
	for ; next < MaxRank; next++ {
		if *l.length(order[next]) != 1 {
			return axes, false
		}
	}
	return axes, true
}

// Fits reports whether Shape fits the engine's axes: without axes of length 1 it has the
// same lengths in the same order; rank 4 is exactly N, C, H, W. Rank 5 may also be
// N, C, D, H, W.
func (l Layout) Fits() bool {
	_, ok := l.axes()
	return ok
}

// Row returns the offset of row i in bytes, rows counted in row-major order of Shape;
// i is below Rows.
func (l Layout) Row(i int) int {
	// The minimum of 1 is for the zero Layout.
	height, depth, channels := max(l.Height, 1), max(l.Depth, 1), max(l.Channels, 1)
	h := i % height
	i /= height
	var c, d int
	if l.order() == depthInside {
		d, i = i%depth, i/depth
		c, i = i%channels, i/channels
	} else {
		c, i = i%channels, i/channels
		d, i = i%depth, i/depth
	}
	return i*l.BatchStride + d*l.DepthStride + c*l.PlaneStride + h*l.RowStride
}

// Offset returns the offset in bytes of the element at index; index has one number for each axis of Shape. The error is
// ErrShape for an index outside Shape, or a Layout that no call of this package made.
func (l Layout) Offset(index ...int) (int, error) {
	if len(index) != len(l.Shape) || len(index) > MaxRank {
		return 0, &Error{Op: "index", Name: l.Name, Err: ErrShape,
			Detail: fmt.Sprintf("%d numbers for shape %v", len(index), l.Shape)}
	}
	axes, ok := l.axes()
	if !ok {
		return 0, &Error{Op: "index", Name: l.Name, Err: ErrShape,
			Detail: fmt.Sprintf("shape %v does not match its axes", l.Shape)}
	}
	at := 0
	for i, n := range index {
		if n < 0 || n >= l.Shape[i] {
			return 0, &Error{Op: "index", Name: l.Name, Err: ErrShape,
				Detail: fmt.Sprintf("%d on axis %d of %v", n, i, l.Shape)}
		}
		at += n * l.stride(axes[i])
	}
	return at, nil
}
