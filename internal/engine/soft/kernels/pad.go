package kernels

import (
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// pad adds a border to x: a constant, the mirrored interior without the edge,
// or the edge. Its items are the rows of the result.
func pad(s *Step) (run.Runner, int) {
	a, size, fill := s.Attrs.(ops.Pad), element.Size(s.In[0].DType), make([]byte, 8)
	in, out, before, strides := s.In[0].Shape, s.Out[0].Shape, a.Before, ops.Strides(s.In[0].Shape)
	element.Store(s.In[0].DType, fill, a.Value)
	fill = fill[:size]
	if len(in) == 0 { // a scalar has no axis to pad
		in, out, before, strides = []int{1}, []int{1}, []int{0}, []int{1}
	}
	last := len(out) - 1
	n := out[last] * size
	return newLoop(ops.Volume(out[:last]), out[last], func(c *run.Call, row, _ int) {
		base, k := 0, row
		for d := last - 1; d >= 0 && base >= 0; d-- {
			if at := origin(k%out[d]-before[d], in[d], a.Mode); at < 0 {
				base = -1
			} else {
				base += at * strides[d]
			}
			k /= out[d]
		}
		dst := c.Out[0].Raw[row*n:][:n]
		if base < 0 {
			repeat(dst, fill)
			return
		}
		padRow(dst, c.In[0].Raw[base*size:][:in[last]*size], fill, before[last]*size, a.Mode)
	}), 0
}

// padRow copies src, behind left bytes, and adds the border of the last axis.
func padRow(dst, src, fill []byte, left int, mode string) {
	width, size := len(src), len(fill)
	copy(dst[left:], src)
	for _, side := range [2][2]int{{0, left}, {left + width, len(dst)}} {
		border := dst[side[0]:side[1]]
		switch mode {
		case ops.PadConstant:
			repeat(border, fill)
		case ops.PadReplicate:
			edge := src[:size]
			if side[0] > 0 {
				edge = src[width-size:]
			}
			repeat(border, edge)
		default:
			for i := 0; i < len(border); i += size {
				at := origin((side[0]+i-left)/size, width/size, mode)
				copy(border[i:][:size], src[at*size:])
			}
		}
	}
}

// origin returns the element of an axis of length n that position i of the
// padded axis repeats, or -1 for the constant.
func origin(i, n int, mode string) int {
	switch {
	case i >= 0 && i < n:
		return i
	case mode == ops.PadReplicate:
		return min(max(i, 0), n-1)
	case mode == ops.PadReflect && i < 0:
		return -i
	case mode == ops.PadReflect:
		return 2*(n-1) - i
	}
	return -1
}

// repeat fills dst with copies of one element.
func repeat(dst, e []byte) {
	n := copy(dst, e)
	for n > 0 && n < len(dst) {
		n += copy(dst[n:], dst[:n])
	}
}
