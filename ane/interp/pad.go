package interp

import (
	"github.com/anekit/anekit/ane/mil/element"
	"github.com/anekit/anekit/ane/mil/ops"
)

// pad puts a border around x: a constant, the mirrored inside without the
// edge, or the edge itself.
func pad(s *step) (runner, int) {
	a := s.attrs.(ops.Pad)
	r := &padder{size: s.in[0].dtype.Size(), strides: dense(s.in[0].shape), fill: make([]byte, 8)}
	element.Store(s.in[0].dtype, r.fill, a.Value)
	r.fill = r.fill[:r.size]
	for i, n := range s.in[0].shape {
		from := make([]int, s.out[0].shape[i])
		for o := range from {
			from[o] = origin(o-a.Before[i], n, a.Mode)
		}
		r.from = append(r.from, from)
	}
	if len(r.from) == 0 { // a scalar has no axis to pad
		r.from, r.strides = [][]int{{0}}, []int{1}
	}
	r.rows = s.out[0].bytes / r.size / len(r.from[len(r.from)-1])
	return r, 0
}

// origin returns which element of an axis of length n stands at position i of
// the padded one, -1 for the constant.
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
	size    int
	rows    int
	from    [][]int // for each axis, where its positions come from
	strides []int   // of x
	fill    []byte  // one element
}

func (r *padder) run(c *call) { c.spread(r.rows, len(r.from[len(r.from)-1])) }

func (r *padder) span(c *call, lo, hi, _ int) {
	last := len(r.from) - 1
	cols := r.from[last]
	in, out := c.in[0].raw, c.out[0].raw
	for row := lo; row < hi; row++ {
		base, k := 0, row
		for d := last - 1; d >= 0 && base >= 0; d-- {
			n := len(r.from[d])
			if at := r.from[d][k%n]; at < 0 {
				base = -1
			} else {
				base += at * r.strides[d]
			}
			k /= n
		}
		dst := out[row*len(cols)*r.size:]
		for i, at := range cols {
			src := r.fill
			if at >= 0 && base >= 0 {
				src = in[(base+at*r.strides[last])*r.size:]
			}
			copy(dst[i*r.size:][:r.size], src)
		}
	}
}
