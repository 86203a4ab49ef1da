package standin

import (
	"math/bits"
	"slices"
)

// The axes of a live entry, outermost first, as nested in dumps of real machines.
const (
	axisN = iota
	axisD
	axisC
	axisH
	axisW
)

// order has the names of the axes.
var order = [...]string{axisN: "Batches", axisD: "Depth", axisC: "Channels", axisH: "Height", axisW: "Width"}

const rowAlign = 64 // bytes

// maxBytes bounds placements: 1 TiB, more than any surface has.
const maxBytes = 1 << 40

// placement is the layout of a tensor on its surface. It implements the rule
// independently of package ane: see TestPlacementAgreesWithAne.
type placement struct {
	lengths [len(order)]int64 // N D C H W
	strides [len(order)]int64 // bytes; that of W is the element's size
}

// placementOf returns the placement by Apple's compiler. Rows, padded to 64 bytes, lie in planes, planes in channels,
// channels in depth, depth in batches. The axes of a lower rank are the inner ones of N C H W. ok is false beyond 1
// TiB.
func placementOf(t tensor) (s placement, ok bool) {
	s.lengths = [...]int64{1, 1, 1, 1, 1}
	axes := order5[:]
	if len(t.shape) < len(order) {
		axes = order4[len(order4)-len(t.shape):]
	}
	for i, at := range axes {
		s.lengths[at] = int64(t.shape[i])
	}
	element := int64(t.dtype.Size())
	row, ok := product(s.lengths[axisW], element)
	if !ok {
		return placement{}, false
	}
	s.strides[axisW] = element
	s.strides[axisH] = (row + rowAlign - 1) / rowAlign * rowAlign
	for at := axisH; at > axisN; at-- {
		if s.strides[at-1], ok = product(s.lengths[at], s.strides[at]); !ok {
			return placement{}, false
		}
	}
	_, ok = s.bytes()
	return s, ok
}

// Positions of a shape's axes in order.
var (
	order5 = [...]int{axisN, axisD, axisC, axisH, axisW}
	order4 = [...]int{axisN, axisC, axisH, axisW}
)

// product multiplies two numbers from 1 to maxBytes.
func product(a, b int64) (int64, bool) {
	if a < 1 || b < 1 {
		return 0, false
	}
	high, low := bits.Mul64(uint64(a), uint64(b))
	return int64(low), high == 0 && low <= maxBytes
}

// bytes returns the necessary length of the surface: the driver's count, and at least up
// to the end of the last element. Strides of axes of length 1 have no effect. ok is false
// if the length is not from 1 to maxBytes.
func (s placement) bytes() (n int64, ok bool) {
	n = s.strides[axisW]
	if n < 1 || n > maxBytes {
		return 0, false
	}
	for at := range order {
		if s.lengths[at] == 1 {
			continue
		}
		reach, ok := product(s.lengths[at]-1, s.strides[at])
		if !ok {
			return 0, false
		}
		if n += reach; n > maxBytes {
			return 0, false
		}
	}
	if s.strides[axisN] < 1 {
		return n, true
	}
	whole, ok := product(s.lengths[axisN], s.strides[axisN])
	return max(n, whole), ok
}

// elements returns the number of elements.
func (s placement) elements() (n int64, ok bool) {
	n = 1
	for _, length := range s.lengths {
		if n, ok = product(n, length); !ok {
			return 0, false
		}
	}
	return n, true
}

// swapped is the order of a shape of five axes with the channels second and the depth
// third.
var swapped = [...]int{axisN, axisC, axisD, axisH, axisW}

// axesOf returns the axes of a tensor in the order of a shape. Axes of length 1 may
// have any position, but rank 4 is N C H W, and only rank 5 may have the channels
// before the depth. ok is false if the lengths do not match the shape.
func axesOf(shape []int, lengths [len(order)]int64) (axes []int, ok bool) {
	if len(shape) == len(order4) {
		for i, at := range order4 {
			if lengths[at] != int64(shape[i]) {
				return nil, false
			}
		}
		return order5[:], lengths[axisD] == 1
	}
	var want []int64
	for _, n := range shape {
		if n != 1 {
			want = append(want, int64(n))
		}
	}
	for _, axes := range [...][len(order)]int{order5, swapped} {
		var have []int64
		for _, at := range axes {
			if lengths[at] != 1 {
				have = append(have, lengths[at])
			}
		}
		if slices.Equal(want, have) {
			return axes[:], true
		}
		if len(shape) < len(order) {
			break
		}
	}
	return nil, false
}
