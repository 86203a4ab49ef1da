package ane

import (
	"fmt"
	"math"
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// RowAlign is the alignment of rows in bytes: the compiled-model attributes of
// Apple's engine give a row stride of 64 for a row of 8 bytes, and published
// round trips over widths 1 to 64 agree.
const RowAlign = 64

// MaxRank is the highest rank the engine takes ("Cannot reshape a tensor of
// rank > 5" is the compiler's own message).
const MaxRank = 5

// MaxBytes bounds one tensor: 1 TiB, far beyond any surface, so that sums of
// sizes cannot overflow.
const MaxBytes = 1 << 40

// Layout says where each element of a tensor stands on its surface. It is read
// from the compiled program, never guessed: element (n, c, d, h, w) starts at
//
//	n*BatchStride + c*PlaneStride + d*DepthStride + h*RowStride + w*DType.Size()
//
// Strides are in bytes. Shapes of lower rank get leading axes of length 1: a
// matrix [H, W] is one plane; a vector [W] one row.
type Layout struct {
	Name  string
	DType mil.DType
	Shape []int // as the program declares it, rank 0 to MaxRank

	Batches, Channels, Depth, Height, Width          int
	BatchStride, PlaneStride, DepthStride, RowStride int
}

// NewLayout returns the layout that the engine gives a tensor: rows padded to
// RowAlign bytes, everything above them dense. The error is ErrShape or
// ErrType.
func NewLayout(name string, dtype mil.DType, shape ...int) (Layout, error) {
	l := Layout{Name: name, DType: dtype, Shape: slices.Clone(shape)}
	if !storable(dtype) {
		return Layout{}, &Error{Op: "layout", Name: name, Err: ErrType,
			Detail: dtype.String() + " cannot stand on a surface", Hint: "use fp16, or fp32 with a cast at the edge"}
	}
	if len(shape) > MaxRank {
		return Layout{}, &Error{Op: "layout", Name: name, Err: ErrShape,
			Detail: fmt.Sprintf("rank %d, at most %d", len(shape), MaxRank), Hint: "merge axes with reshape"}
	}
	full := [MaxRank]int{1, 1, 1, 1, 1} // N C D H W
	elem, volume := dtype.Size(), 1
	for i, n := range shape {
		if n < 1 || n > MaxBytes/volume {
			return Layout{}, &Error{Op: "layout", Name: name, Err: ErrShape,
				Detail: fmt.Sprintf("axis %d of %v", i, shape), Hint: "every axis is at least 1 and the tensor below 1 TiB"}
		}
		volume *= n
	}
	place(full[:], shape)
	l.Batches, l.Channels, l.Depth, l.Height, l.Width = full[0], full[1], full[2], full[3], full[4]
	l.RowStride = (l.Width*elem + RowAlign - 1) / RowAlign * RowAlign
	if volume/l.Width > MaxBytes/l.RowStride {
		return Layout{}, &Error{Op: "layout", Name: name, Err: ErrShape,
			Detail: fmt.Sprintf("%v needs more than 1 TiB with padded rows", shape), Hint: "widen the last axis"}
	}
	l.DepthStride = l.Height * l.RowStride
	l.PlaneStride = l.Depth * l.DepthStride
	l.BatchStride = l.Channels * l.PlaneStride
	return l, nil
}

// place puts a shape of rank 0 to 5 into its five axes: N C D H W. Ranks below
// five have no depth axis.
func place(full, shape []int) {
	if len(shape) == MaxRank {
		copy(full, shape)
		return
	}
	nchw := []int{0, 1, 3, 4}[MaxRank-1-len(shape):]
	for i, at := range nchw {
		full[at] = shape[i]
	}
}

// storable lists the element types a surface may hold.
func storable(d mil.DType) bool {
	switch d {
	case mil.FP16, mil.FP32, mil.Bool, mil.Int8, mil.UInt8, mil.Int16, mil.UInt16, mil.Int32, mil.UInt32:
		return true
	}
	return false
}

// Bytes is the shortest surface that can hold the tensor.
func (l Layout) Bytes() int { return l.Batches * l.BatchStride }

// Elements is the number of elements.
func (l Layout) Elements() int { return l.Batches * l.Channels * l.Depth * l.Height * l.Width }

// RowBytes is the length of one row without its padding.
func (l Layout) RowBytes() int { return l.Width * l.DType.Size() }

// PackedBytes is the length of the tensor without padding.
func (l Layout) PackedBytes() int { return l.Elements() * l.DType.Size() }

// Packed reports whether the tensor stands on its surface without gaps, so
// that its bytes are those of a dense row-major array.
func (l Layout) Packed() bool { return l.Bytes() == l.PackedBytes() || l.Elements() == l.Width }

// Rows is the number of rows.
func (l Layout) Rows() int { return l.Batches * l.Channels * l.Depth * l.Height }

// Row returns the offset of row i in bytes, rows counted in row-major order; i
// is below Rows.
func (l Layout) Row(i int) int {
	// The bounds of 1 are for a Layout that nobody made, whose axes are zero.
	height, depth, channels := max(l.Height, 1), max(l.Depth, 1), max(l.Channels, 1)
	h := i % height
	i /= height
	d := i % depth
	i /= depth
	return i/channels*l.BatchStride + i%channels*l.PlaneStride + d*l.DepthStride + h*l.RowStride
}

// Offset returns the offset in bytes of the element at index, which has one
// number for each axis of Shape.
func (l Layout) Offset(index ...int) (int, error) {
	if len(index) != len(l.Shape) || len(index) > MaxRank {
		return 0, &Error{Op: "index", Name: l.Name, Err: ErrShape,
			Detail: fmt.Sprintf("%d numbers for shape %v", len(index), l.Shape)}
	}
	for i, n := range index {
		if n < 0 || n >= l.Shape[i] {
			return 0, &Error{Op: "index", Name: l.Name, Err: ErrShape,
				Detail: fmt.Sprintf("%d on axis %d of %v", n, i, l.Shape)}
		}
	}
	var at [MaxRank]int
	place(at[:], index)
	return at[0]*l.BatchStride + at[1]*l.PlaneStride + at[2]*l.DepthStride + at[3]*l.RowStride + at[4]*l.DType.Size(), nil
}

// Equal reports whether two layouts place the same elements at the same bytes.
// Names do not matter.
func (l Layout) Equal(m Layout) bool {
	shape := slices.Equal(l.Shape, m.Shape)
	l.Name, m.Name, l.Shape, m.Shape = "", "", nil, nil
	return shape && l.key() == m.key()
}

func (l Layout) key() [10]int {
	return [10]int{int(l.DType), l.Batches, l.Channels, l.Depth, l.Height, l.Width,
		l.BatchStride, l.PlaneStride, l.DepthStride, l.RowStride}
}

// check refuses a layout put together by hand that would reach outside its own
// bytes or let rows overlap.
func (l Layout) check() error {
	bad := func(detail string) error {
		return &Error{Op: "layout", Name: l.Name, Err: ErrShape, Detail: detail, Hint: "take the layout from the Model or from NewLayout"}
	}
	if !storable(l.DType) {
		return &Error{Op: "layout", Name: l.Name, Err: ErrType, Detail: l.DType.String()}
	}
	n := 1
	for _, d := range []int{l.Batches, l.Channels, l.Depth, l.Height, l.Width} {
		if d < 1 || d > MaxBytes/n {
			return bad("an axis is out of range")
		}
		n *= d
	}
	var full = [MaxRank]int{1, 1, 1, 1, 1}
	if len(l.Shape) > MaxRank {
		return bad("rank above 5")
	}
	place(full[:], l.Shape)
	if full != [MaxRank]int{l.Batches, l.Channels, l.Depth, l.Height, l.Width} {
		return bad(fmt.Sprintf("shape %v does not match its axes", l.Shape))
	}
	inner := l.RowBytes()
	for _, s := range []struct{ stride, count int }{
		{l.RowStride, l.Height}, {l.DepthStride, l.Depth}, {l.PlaneStride, l.Channels}, {l.BatchStride, l.Batches},
	} {
		if s.stride < inner || s.stride%l.DType.Size() != 0 || s.stride > math.MaxInt/2/s.count {
			return bad("strides overlap, are ragged or too large")
		}
		inner = s.stride * s.count
	}
	if inner > MaxBytes {
		return bad("larger than 1 TiB")
	}
	return nil
}

// clone returns l with a Shape of its own.
func (l Layout) clone() Layout {
	l.Shape = slices.Clone(l.Shape)
	return l
}

// clones returns layouts that share nothing with those given.
func clones(layouts []Layout) []Layout {
	own := slices.Clone(layouts)
	for i := range own {
		own[i] = own[i].clone()
	}
	return own
}

// String gives name, type, shape and strides on one line.
func (l Layout) String() string {
	return fmt.Sprintf("%s %s%v row %d plane %d batch %d", l.Name, l.DType, l.Shape, l.RowStride, l.PlaneStride, l.BatchStride)
}
