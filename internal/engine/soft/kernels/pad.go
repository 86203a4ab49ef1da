package kernels

import (
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// pad adds a border to x: a constant, the mirrored interior without the edge,
// or the edge.
func pad(s *Step) (run.Runner, int) {
	a := s.Attrs.(ops.Pad)
	r := &padder{size: element.Size(s.In[0].DType), mode: a.Mode, fill: make([]byte, 8),
		in: s.In[0].Shape, out: s.Out[0].Shape, before: a.Before, strides: ops.Strides(s.In[0].Shape)}
	element.Store(s.In[0].DType, r.fill, a.Value)
	r.fill = r.fill[:r.size]
	if len(r.in) == 0 { // a scalar has no axis to pad
		r.in, r.out, r.before, r.strides = []int{1}, []int{1}, []int{0}, []int{1}
	}
	return r, 0
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

type padder struct {
	size            int // of an element in bytes
	mode            string
	fill            []byte // one element
	in, out, before []int  // lengths of each axis, and the position of x in it
	strides         []int  // of x
}

func (r *padder) Run(c *run.Call) {
	last := len(r.out) - 1
	c.Spread(ops.Volume(r.out[:last]), r.out[last])
}

// Span writes rows lo to hi of the result.
func (r *padder) Span(c *run.Call, lo, hi, worker int) {
	last := len(r.out) - 1
	n := r.out[last] * r.size
	for row := lo; row < hi && !c.Pause(worker); row++ {
		base, k := 0, row
		for d := last - 1; d >= 0 && base >= 0; d-- {
			if at := origin(k%r.out[d]-r.before[d], r.in[d], r.mode); at < 0 {
				base = -1
			} else {
				base += at * r.strides[d]
			}
			k /= r.out[d]
		}
		dst := c.Out[0].Raw[row*n:][:n]
		if base < 0 {
			repeat(dst, r.fill)
			continue
		}
		r.row(dst, c.In[0].Raw[base*r.size:][:r.in[last]*r.size])
	}
}

// row copies src and adds the border of the last axis.
func (r *padder) row(dst, src []byte) {
	last := len(r.out) - 1
	left, width := r.before[last]*r.size, len(src)
	copy(dst[left:], src)
	for _, side := range [2][2]int{{0, left}, {left + width, len(dst)}} {
		border := dst[side[0]:side[1]]
		switch r.mode {
		case ops.PadConstant:
			repeat(border, r.fill)
		case ops.PadReplicate:
			edge := src[:r.size]
			if side[0] > 0 {
				edge = src[width-r.size:]
			}
			repeat(border, edge)
		default:
			for i := 0; i < len(border); i += r.size {
				at := origin((side[0]+i-left)/r.size, r.in[last], r.mode)
				copy(border[i:][:r.size], src[at*r.size:])
			}
		}
	}
}

// repeat fills dst with copies of one element.
func repeat(dst, e []byte) {
	n := copy(dst, e)
	for n > 0 && n < len(dst) {
		n += copy(dst[n:], dst[:n])
	}
}
