package ane

import (
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

// NewStrided returns the layout of a tensor whose strides another library has chosen: the element at
// index i is sum(i*strides) elements after the first. strides has a number for each axis of shape;
// those of axes of length 1 do not matter. Bytes may be less than Batches*BatchStride of NewLayout,
// because memory may end with the last element.
//
// The error is ErrType, or ErrShape for a layout that the five axes of the engine cannot express: a
// rank above MaxRank, an axis without elements, strides that are negative, or that place two
// elements at the same bytes, and elements of the last axis that are not adjacent, if their rank
// leaves no axis for the gaps.
func NewStrided(name string, dtype mil.DType, shape, strides []int) (Layout, error) {
	bad := func(format string, args ...any) (Layout, error) {
		return Layout{}, &Error{Op: "layout", Name: name, Err: ErrShape, Detail: fmt.Sprintf(format, args...),
			Hint: "have the owner copy the tensor into row-major order"}
	}
	if !storable(dtype) {
		return Layout{}, &Error{Op: "layout", Name: name, Err: ErrType,
			Detail: dtype.String() + " cannot be stored on a surface",
			Hint:   "have the owner convert the tensor to fp16"}
	}
	if len(shape) > MaxRank || len(strides) != len(shape) {
		return bad("%d axes with %d strides, at most %d", len(shape), len(strides), MaxRank)
	}
	size := dtype.Size()
	for i, n := range shape {
		if n < 1 || n > MaxBytes || n > 1 && (strides[i] < 1 || strides[i] > MaxBytes/size) {
			return bad("axis %d has length %d and stride %d", i, n, strides[i])
		}
	}
	axes, ok := placed(shape, strides)
	if !ok {
		return bad("shape %v with strides %v has gaps inside its rows", shape, strides)
	}
	l := Layout{Name: name, DType: dtype, Shape: slices.Clone(shape),
		Batches: 1, Channels: 1, Depth: 1, Height: 1, Width: 1}
	for i, n := range shape {
		if n > 1 {
			*l.length(axes[i]) = n
			l.setStride(axes[i], strides[i]*size)
		}
	}
	if err := l.Check(); err != nil {
		own := err.(*Error) //nolint:errorlint // of Check itself
		return bad("shape %v with strides %v: %s", shape, strides, own.Detail)
	}
	return l, nil
}

// placed chooses the engine's axis for each axis of a shape: the default one if the elements of
// the last axis are adjacent, otherwise axes above W, so that each element is a row.
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

func (l *Layout) setStride(axis, bytes int) {
	switch axis {
	case axisN:
		l.BatchStride = bytes
	case axisD:
		l.DepthStride = bytes
	case axisC:
		l.PlaneStride = bytes
	case axisH:
		l.RowStride = bytes
	}
}

// Strides stores length and stride of each axis of Shape and returns their number, the rank. Strides
// count elements: the element at index i is sum(i*strides) elements after the first. It allocates
// nothing.
func (t *Tensor) Strides(lengths, strides *[MaxRank]int64) (rank int) {
	t = orZero(t)
	l := &t.layout
	axes, ok := l.assign(depthOutside)
	if !ok {
		axes, _ = l.assign(depthInside) // newTensor has checked that one fits
	}
	size := max(l.DType.Size(), 1)
	for i, n := range l.Shape {
		lengths[i], strides[i] = int64(n), int64(l.stride(axes[i])/size)
	}
	return len(l.Shape)
}

// DType is the type of the elements.
func (t *Tensor) DType() mil.DType { return orZero(t).layout.DType }

// OnMemory makes a tensor at byte 0 of a Block, like OnBlock, except that the Block may end with the
// last element, without the padding after it: for memory of another library, which
// unimem.AdoptMemory makes a Block of. Bind refuses the tensor with ErrShort if the program's layout
// needs more bytes.
func OnMemory(b *unimem.Block, l Layout) (*Tensor, error) {
	mem := b.Bytes()
	if mem == nil {
		return nil, &Error{Op: "tensor", Name: l.Name, Err: ErrStale,
			Hint: "make the tensor before the memory is closed"}
	}
	if err := l.Check(); err != nil {
		return nil, err
	}
	if need := l.extent(); len(mem) < need {
		return nil, &Error{Op: "tensor", Name: l.Name, Err: ErrShort,
			Detail: fmt.Sprintf("the last element ends at byte %d, memory has %d", need, len(mem))}
	}
	return &Tensor{layout: l.clone(), block: b, kind: onBlock, size: min(l.Bytes(), len(mem))}, nil
}

// writable returns ErrReadOnly for a tensor on memory that must not be written to.
func (t *Tensor) writable(op string) error {
	if !t.block.ReadOnly() {
		return nil
	}
	return &Error{Op: op, Name: t.layout.Name, Err: ErrReadOnly, Hint: "copy it into memory of its own with Copy"}
}
