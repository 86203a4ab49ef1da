package ane

import (
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// RowAlign is the alignment of rows in bytes. Source: models compiled for Apple's engine have a row stride of 64 for a
// row of 8 bytes in their attributes. Published round trips with widths 1 to 64 agree.
const RowAlign = 64

// MaxRank is the highest rank that the engine supports. Apple's compiler reports "Cannot
// reshape a tensor of rank > 5".
const MaxRank = 5

// MaxBytes is the largest size of a tensor, 1 TiB: far more than any surface has, so
// that sums of sizes cannot overflow.
const MaxBytes = 1 << 40

// Layout gives the place of each element of a tensor on its surface. It is read from the
// compiled program. Apple's engine has five axes, nested N, D, C, H, W: element
// (n, d, c, h, w) starts at
//
//	n*BatchStride + d*DepthStride + c*PlaneStride + h*RowStride + w*DType.Size()
//
// Strides are in bytes. The axes of Shape are those of the program's text, in its
// order. NewLayout documents their default mapping to N, D, C, H, W; a compiled program
// may have another.
type Layout struct {
	Name  string
	DType mil.DType
	Shape []int // as the program declares it, rank 0 to MaxRank

	Batches, Channels, Depth, Height, Width          int
	BatchStride, PlaneStride, DepthStride, RowStride int
}

// NewLayout returns the engine's default layout of a tensor: rows padded to RowAlign
// bytes, no other padding. Rank 5 is N, D, C, H, W; rank 4 N, C, H, W; rank 3 C, H, W; a
// matrix [H, W] is one plane and a vector [W] one row. Source for ranks 3 to 5: dumps of
// programs compiled on an M1. The error is ErrShape or ErrType.
func NewLayout(name string, dtype mil.DType, shape ...int) (Layout, error) {
	l, err := unpadded(name, dtype, shape)
	if err != nil {
		return Layout{}, err
	}
	for i, axis := range textAxes[len(shape)] {
		*l.length(axis) = shape[i]
	}
	l.RowStride = (l.RowBytes() + RowAlign - 1) / RowAlign * RowAlign
	if l.Rows() > MaxBytes/l.RowStride {
		return Layout{}, &Error{Op: "layout", Name: name, Err: ErrShape,
			Detail: fmt.Sprintf("%v needs more than 1 TiB with padded rows", shape), Hint: "widen the last axis"}
	}
	l.PlaneStride = l.Height * l.RowStride
	l.DepthStride = l.Channels * l.PlaneStride
	l.BatchStride = l.Depth * l.DepthStride
	return l, nil
}

// unpadded returns a layout with axes of length 1 and without strides, after checking type and shape.
func unpadded(name string, dtype mil.DType, shape []int) (Layout, error) {
	if !storable(dtype) {
		return Layout{}, &Error{Op: "layout", Name: name, Err: ErrType,
			Detail: dtype.String() + " cannot be stored on a surface",
			Hint:   "use fp16, or fp32 with a cast at the edge"}
	}
	if len(shape) > MaxRank {
		return Layout{}, &Error{Op: "layout", Name: name, Err: ErrShape,
			Detail: fmt.Sprintf("rank %d, at most %d", len(shape), MaxRank), Hint: "merge axes with reshape"}
	}
	volume := dtype.Size()
	for i, n := range shape {
		if n < 1 || n > MaxBytes/volume {
			return Layout{}, &Error{Op: "layout", Name: name, Err: ErrShape,
				Detail: fmt.Sprintf("axis %d of %v", i, shape),
				Hint:   "every axis is at least 1 and the tensor below 1 TiB"}
		}
		volume *= n
	}
	return Layout{Name: name, DType: dtype, Shape: slices.Clone(shape),
		Batches: 1, Channels: 1, Depth: 1, Height: 1, Width: 1}, nil
}

// storable reports whether a surface can hold elements of type d.
func storable(d mil.DType) bool {
	switch d {
	case mil.FP16, mil.FP32, mil.Bool, mil.Int8, mil.UInt8, mil.Int16, mil.UInt16, mil.Int32, mil.UInt32:
		return true
	}
	return false
}

// Bytes is the size of the smallest surface for the tensor. Apple's driver requires Batches*BatchStride; Bytes is the
// end of the last element if that is larger.
func (l Layout) Bytes() int { return max(l.Batches*l.BatchStride, l.extent()) }

// extent is the end of the last element.
func (l Layout) extent() int {
	if l.Elements() == 0 {
		return 0
	}
	return (l.Batches-1)*l.BatchStride + (l.Depth-1)*l.DepthStride + (l.Channels-1)*l.PlaneStride +
		(l.Height-1)*l.RowStride + l.RowBytes()
}

// Elements is the number of elements.
func (l Layout) Elements() int { return l.Batches * l.Channels * l.Depth * l.Height * l.Width }

// RowBytes is the length of one row without its padding.
func (l Layout) RowBytes() int { return l.Width * l.DType.Size() }

// PackedBytes is the length of the tensor without padding.
func (l Layout) PackedBytes() int { return l.Elements() * l.DType.Size() }

// Packed reports whether the tensor has no gaps, so that its bytes are those of a dense
// row-major array. For layouts of the engine this is true if its rows have no padding or
// it is a single row.
func (l Layout) Packed() bool {
	order := l.order()
	dense := l.DType.Size()
	for i := len(order) - 1; i >= 0; i-- {
		n := *l.length(order[i])
		if n > 1 && l.stride(order[i]) != dense {
			return false
		}
		dense *= n
	}
	return true
}

// Rows is the number of rows.
func (l Layout) Rows() int { return l.Batches * l.Channels * l.Depth * l.Height }

// Equal reports whether two layouts place the same elements at the same bytes. It
// ignores names and the strides of axes of length 1.
func (l Layout) Equal(m Layout) bool {
	if l.DType != m.DType || !slices.Equal(l.Shape, m.Shape) || l.order() != m.order() {
		return false
	}
	for axis := range MaxRank {
		n := *l.length(axis)
		if n != *m.length(axis) || n > 1 && l.stride(axis) != m.stride(axis) {
			return false
		}
	}
	return true
}

// clone returns l with a copy of Shape.
func (l Layout) clone() Layout {
	l.Shape = slices.Clone(l.Shape)
	return l
}

// clones returns copies of layouts that share no memory with them.
func clones(layouts []Layout) []Layout {
	own := slices.Clone(layouts)
	for i := range own {
		own[i] = own[i].clone()
	}
	return own
}

// String returns name, type, shape and strides on one line.
func (l Layout) String() string {
	return fmt.Sprintf("%s %s%v row %d plane %d batch %d", l.Name, l.DType, l.Shape, l.RowStride, l.PlaneStride,
		l.BatchStride)
}
