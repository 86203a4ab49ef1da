package ane

import (
	"fmt"

	"github.com/anekit/anekit/ane/mil"
)

// NewStrided returns the layout of a tensor whose strides another library has chosen: the element at
// index i is sum(i*strides) elements after the first. strides has a number for each axis of shape;
// those of axes of length 1 do not matter. Bytes may be less than Batches*BatchStride of NewLayout,
// because memory may end with the last element.
//
// Errors: ErrType, ErrShape (the engine's five axes cannot express the layout: a rank above MaxRank, an axis without
// elements, negative strides, two elements at the same bytes, or gaps between elements of the last axis if the rank
// leaves no axis for them).
func NewStrided(name string, dtype mil.DType, shape, strides []int) (Layout, error) {
	bad := func(format string, args ...any) (Layout, error) {
		return Layout{}, &Error{Op: "layout", Name: name, Err: ErrShape, Detail: fmt.Sprintf(format, args...),
			Hint: "have the owner copy the tensor into row-major order"}
	}
	l, err := unpadded(name, dtype, shape)
	if err != nil {
		return Layout{}, err
	}
	if len(strides) != len(shape) {
		return bad("%d axes with %d strides", len(shape), len(strides))
	}
	size := dtype.Size()
	for i, n := range shape {
		if n > 1 && (strides[i] < 1 || strides[i] > MaxBytes/size) {
			return bad("axis %d has length %d and stride %d", i, n, strides[i])
		}
	}
	axes, ok := placed(shape, strides)
	if !ok {
		return bad("shape %v with strides %v has gaps inside its rows", shape, strides)
	}
	for i, n := range shape {
		if n > 1 {
			*l.length(axes[i]) = n
			if axes[i] != axisW {
				*l.strideField(axes[i]) = strides[i] * size
			}
		}
	}
	if err := l.Check(); err != nil {
		own := err.(*Error) //nolint:errorlint // of Check itself
		return bad("shape %v with strides %v: %s", shape, strides, own.Detail)
	}
	return l, nil
}

// placed chooses the engine's axis for each axis of a shape: the default one if the elements of the last axis are
// adjacent. Otherwise it chooses axes above W, so that each element is a row.
func placed(shape, strides []int) (axes [MaxRank]int, ok bool) {
	rank := len(shape)
	copy(axes[:], textAxes[rank])
	if rank == 0 || shape[rank-1] == 1 || strides[rank-1] == 1 {
		return axes, true
	}
	if rank == 4 { // exactly N, C, H, W
		return axes, false
	}
	next := axisH
	for i := rank - 1; i >= 0; i-- {
		if shape[i] == 1 {
			continue
		}
		if next < axisN {
			return axes, false
		}
		axes[i] = next
		next--
	}
	return axes, true
}

// Strides stores length and stride of each axis of Shape and returns their number, the rank. Strides
// count elements: the element at index i is sum(i*strides) elements after the first. It allocates
// nothing.
func (t *Tensor) Strides(lengths, strides *[MaxRank]int64) (rank int) {
	t = orZero(t)
	l := &t.layout
	axes, _ := l.axes() // newTensor has checked that they fit
	size := max(l.DType.Size(), 1)
	for i, n := range l.Shape {
		lengths[i], strides[i] = int64(n), int64(l.stride(axes[i])/size)
	}
	return len(l.Shape)
}
