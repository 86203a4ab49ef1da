package soft

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/ops"
)

// maxPool returns the largest element of each window, avgPool the mean. Padding
// never wins a maximum. A mean counts padding unless
// exclude_padding_from_average is set.
func maxPool(s *step) (runner, int) { return newPooler(s, true) }
func avgPool(s *step) (runner, int) { return newPooler(s, false) }

func newPooler(s *step, highest bool) (runner, int) {
	w := planar(s.attrs.(ops.Window))
	planes := s.in[0].shape[0] * s.in[0].shape[1]
	r := &pooler{win: w, planes: planes, highest: highest, dtype: s.out[0].dtype}
	return r, w.In[1] + w.Out[1]
}

// planar adds a leading spatial axis of length 1 to a window over one axis.
func planar(w ops.Window) ops.Window {
	if len(w.In) == 1 {
		w.Kernel, w.In, w.Out = []int{1, w.Kernel[0]}, []int{1, w.In[0]}, []int{1, w.Out[0]}
		w.Strides, w.Dilations = []int{1, w.Strides[0]}, []int{1, w.Dilations[0]}
		w.Before, w.After = []int{0, w.Before[0]}, []int{0, w.After[0]}
	}
	return w
}

type pooler struct {
	win     ops.Window
	planes  int
	highest bool
	dtype   mil.DType
}

func (r *pooler) run(c *call) {
	w := &r.win
	c.spread(r.planes*w.Out[0], w.Out[1]*min(w.Kernel[0], w.In[0])*min(w.Kernel[1], w.In[1]))
}

// span computes output rows lo to hi, counted through all planes.
func (r *pooler) span(c *call, lo, hi, worker int) {
	w := &r.win
	row, acc := c.work[worker][:w.In[1]], c.work[worker][w.In[1]:][:w.Out[1]]
	for i := lo; i < hi && !c.stopped(); i++ {
		plane, oh := i/w.Out[0], i%w.Out[0]
		start := float32(0)
		if r.highest {
			start = float32(math.Inf(-1))
		}
		for ow := range acc {
			acc[ow] = start
		}
		top := oh*w.Strides[0] - w.Before[0]
		for ih := max(top, 0); ih < min(top+w.Kernel[0], w.In[0]); ih++ {
			c.in[0].load(row, (plane*w.In[0]+ih)*w.In[1])
			r.fold(c, acc, row)
		}
		if !r.highest {
			r.divide(acc, r.inside(top, 0))
		}
		c.out[0].store(acc, i*w.Out[1])
	}
}

// fold adds one input row to the windows of an output row.
func (r *pooler) fold(c *call, acc, row []float32) {
	w := &r.win
	pause := 1<<20/w.Kernel[1] + 1 // outputs between two checks of the context
	for ow := range acc {
		if ow%pause == 0 && c.stopped() {
			return
		}
		left := ow*w.Strides[1] - w.Before[1]
		for _, v := range row[max(left, 0):min(left+w.Kernel[1], w.In[1])] {
			if r.highest {
				acc[ow] = max(acc[ow], v)
			} else {
				acc[ow] += v
			}
		}
	}
}

// inside counts the positions of a window that starts at from along an axis:
// those within x, or those within x and its padding.
func (r *pooler) inside(from, axis int) int {
	w := &r.win
	if w.ExcludePadding {
		return min(from+w.Kernel[axis], w.In[axis]) - max(from, 0)
	}
	return min(from+w.Kernel[axis], w.In[axis]+w.After[axis]) - from
}

// divide turns sums into means. rows is the height of the windows.
func (r *pooler) divide(acc []float32, rows int) {
	w := &r.win
	for ow, v := range acc {
		n := rows * r.inside(ow*w.Strides[1]-w.Before[1], 1)
		acc[ow] = narrow(r.dtype, float64(v)/float64(n))
	}
}
