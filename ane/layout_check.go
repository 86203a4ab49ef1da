package ane

import (
	"fmt"
	"slices"
)

// Check returns an error for a layout with elements outside of its own bytes, with
// overlapping rows, or with a Shape that does not fit its axes. It ignores strides of
// axes of length 1, except negative ones. The error is ErrShape or ErrType; layouts of
// NewLayout and of a Model have none.
func (l Layout) Check() error {
	bad := func(format string, args ...any) error {
		return &Error{Op: "layout", Name: l.Name, Err: ErrShape, Detail: fmt.Sprintf(format, args...),
			Hint: "take the layout from the Model or from NewLayout"}
	}
	if !storable(l.DType) {
		return &Error{Op: "layout", Name: l.Name, Err: ErrType, Detail: l.DType.String()}
	}
	if len(l.Shape) > MaxRank {
		return bad("rank %d, at most %d", len(l.Shape), MaxRank)
	}
	volume := l.DType.Size()
	for axis, name := range axisNames {
		n := *l.length(axis)
		if n < 1 || n > MaxBytes/volume {
			return bad("%s is %d; every axis is at least 1 and the tensor below 1 TiB", name, n)
		}
		volume *= n
	}
	if !l.Fits() {
		return bad("shape %v does not match its axes: N %d, D %d, C %d, H %d, W %d",
			l.Shape, l.Batches, l.Depth, l.Channels, l.Height, l.Width)
	}
	return l.checkStrides(bad)
}

var axisNames = [MaxRank]string{axisN: "Batches", axisD: "Depth", axisC: "Channels", axisH: "Height", axisW: "Width"}

var strideNames = [MaxRank]string{axisN: "BatchStride", axisD: "DepthStride", axisC: "PlaneStride", axisH: "RowStride"}

// checkStrides checks the axes in the order of their strides: the stride of each has to
// be at least the extent of all axes inside it.
func (l Layout) checkStrides(bad func(format string, args ...any) error) error {
	var all [MaxRank]int
	axes := all[:0]
	for _, axis := range []int{axisH, axisC, axisD, axisN} {
		if s := l.stride(axis); s < 0 || s > MaxBytes {
			return bad("%s is %d, outside 0 to 1 TiB", strideNames[axis], s)
		}
		if *l.length(axis) > 1 {
			axes = append(axes, axis)
		}
	}
	slices.SortStableFunc(axes, func(a, b int) int { return l.stride(a) - l.stride(b) })
	inner, within := l.RowBytes(), axisW // bytes that the axes so far span, and the last of them
	for _, axis := range axes {
		n, s := *l.length(axis), l.stride(axis)
		switch {
		case s < inner:
			return bad("strides overlap: %s is %d, %s spans %d bytes", strideNames[axis], s, spanName(within), inner)
		case s%l.DType.Size() != 0:
			return bad("%s is %d, not a multiple of the %d bytes of an element", strideNames[axis], s, l.DType.Size())
		case n-1 > (MaxBytes-inner)/s:
			return bad("larger than 1 TiB")
		}
		inner += (n - 1) * s
		within = axis
	}
	if l.BatchStride > MaxBytes/l.Batches {
		return bad("larger than 1 TiB")
	}
	return nil
}

// spanName is the name of what an axis and those inside it span.
func spanName(axis int) string {
	if axis == axisW {
		return "a row"
	}
	return "axis " + axisNames[axis]
}
