package standin

import "math/bits"

// The axes of a live entry, outermost first: dumps of real machines nest them so.
const (
	axisN = iota
	axisD
	axisC
	axisH
	axisW
)

// order names the axes.
var order = [...]string{axisN: "Batches", axisD: "Depth", axisC: "Channels", axisH: "Height", axisW: "Width"}

const rowAlign = 64 // bytes

// mostBytes bounds what is placed: 1 TiB, as no surface is longer.
const mostBytes = 1 << 40

// spot says where the elements of a tensor stand on its surface. The stand-in writes
// the rule down a second time, apart from package ane: see TestTwoWritingsOfThePlacement.
type spot struct {
	lengths [len(order)]int64 // N D C H W
	strides [len(order)]int64 // bytes; that of W is the element's size
}

// spotOf returns where Apple's compiler puts a tensor: rows padded to 64 bytes, then
// rows in planes, planes in channels, channels in depth, depth in batches. Axes of a
// lower rank are the inner ones of N C H W. ok is false beyond 1 TiB.
func spotOf(t tensor) (s spot, ok bool) {
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
		return spot{}, false
	}
	s.strides[axisW] = element
	s.strides[axisH] = (row + rowAlign - 1) / rowAlign * rowAlign
	for at := axisH; at > axisN; at-- {
		if s.strides[at-1], ok = product(s.lengths[at], s.strides[at]); !ok {
			return spot{}, false
		}
	}
	_, ok = s.bytes()
	return s, ok
}

// The axes that those of a shape go to.
var (
	order5 = [...]int{axisN, axisD, axisC, axisH, axisW}
	order4 = [...]int{axisN, axisC, axisH, axisW}
)

// product multiplies two numbers from 1 to mostBytes.
func product(a, b int64) (int64, bool) {
	if a < 1 || b < 1 {
		return 0, false
	}
	high, low := bits.Mul64(uint64(a), uint64(b))
	return int64(low), high == 0 && low <= mostBytes
}

// bytes is how long the surface has to be: as the driver counts it, and to the end of
// the last element. Strides of axes of length 1 place nothing. ok is false where that is
// no number from 1 to mostBytes.
func (s spot) bytes() (n int64, ok bool) {
	n = s.strides[axisW]
	if n < 1 || n > mostBytes {
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
		if n += reach; n > mostBytes {
			return 0, false
		}
	}
	if s.strides[axisN] < 1 {
		return n, true
	}
	whole, ok := product(s.lengths[axisN], s.strides[axisN])
	return max(n, whole), ok
}

// elements is the number of elements.
func (s spot) elements() (n int64, ok bool) {
	n = 1
	for _, length := range s.lengths {
		if n, ok = product(n, length); !ok {
			return 0, false
		}
	}
	return n, true
}
