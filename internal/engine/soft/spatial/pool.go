package spatial

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// maxima is max_pool. other computes the lines of strips with NaNs, of which one is the greatest.
type maxima struct {
	*plane
	planes int
	other  run.Runner
}

// Maxima returns the runner of max_pool for planes of x under windows over three axes, and the float32s of its
// workspace. The items of other, which takes some workspace, are the lines of the result.
func Maxima(w ops.Window, planes int, other run.Runner, room int) (run.Runner, int) {
	p := newPlane(w, keys)
	if p == nil {
		return nil, 0
	}
	return &maxima{p, planes, other}, max(p.words(), room)
}

func (r *maxima) Run(c *run.Call) { c.Spread(r.planes*r.strips, 3*r.rows*r.win.Out[2]) }

// Span computes strips lo to hi, counted through all planes.
func (r *maxima) Span(c *run.Call, lo, hi, worker int) {
	r.clear(c, worker)
	r.each(c, lo, hi, worker, func(plane, line, rows int, out []fp16.Bits) {
		if !r.load(c, worker, plane, line, rows) {
			r.results(c, worker, sliding{}, nil, out)
			return
		}
		at := plane*r.win.Out[1] + line
		r.other.Span(c, at, at+rows, worker)
		r.clear(c, worker)
	})
}

// each calls f for strips lo to hi with the lines and the room of their results.
func (p *plane) each(c *run.Call, lo, hi, worker int, f func(plane, line, rows int, out []fp16.Bits)) {
	_, _, _, last := p.strip(hi)
	done := together
	for i := lo; i < hi; i++ {
		if done >= together {
			if done = 0; c.Pause(worker) {
				return
			}
		}
		plane, line, rows, at := p.strip(i)
		n := rows * p.win.Out[2]
		f(plane, line, rows, c.Out[0].Half[at:at+n:last])
		done += n
	}
}

// means is avg_pool. Sums of float64 are exact. The product of a sum and the inverse of its count is corrected by what
// is left of the sum, so that a quotient that has the digits of float64 is exact. Any other differs from one halfway
// between two halves by 2^-49 of itself or more, because a sum is a multiple of 2^-24 and a count at most mostTaps.
type means struct {
	*plane
	planes int
	counts []float64 // rows of counts, each followed by one of their inverses
	ofRow  []int     // for each line of the result the byte at which its counts begin
}

// mostCounts bounds the counts of a runner.
const mostCounts = 1 << 16

// Means returns the runner of avg_pool for planes of x under windows over three axes, and the float32s of its
// workspace.
func Means(w ops.Window, planes int) (run.Runner, int) {
	p := newPlane(w, doubles)
	if p == nil {
		return nil, 0
	}
	r := &means{plane: p, planes: planes, ofRow: make([]int, w.Out[1]+tileRows)}
	width, known := w.Out[2]+p.lanes, map[int]int{}
	for i := range w.Out[1] {
		high := count(&w, 1, i)
		at, ok := known[high]
		if !ok {
			at = 8 * len(r.counts)
			known[high] = at
			row := make([]float64, 2*width)
			for j := range w.Out[2] {
				row[j] = float64(high * count(&w, 2, j))
				row[width+j] = 1 / row[j]
			}
			if r.counts = append(r.counts, row...); len(r.counts) > mostCounts {
				return nil, 0
			}
		}
		r.ofRow[i] = at
	}
	return r, p.words()
}

// count is the number of positions of window i along an axis: within x, or within x and its padding.
func count(w *ops.Window, axis, i int) int {
	from := i*w.Strides[axis] - w.Before[axis]
	if w.ExcludePadding {
		return min(from+w.Kernel[axis], w.In[axis]) - max(from, 0)
	}
	return min(from+w.Kernel[axis], w.In[axis]+w.After[axis]) - from
}

func (r *means) Run(c *run.Call) { c.Spread(r.planes*r.strips, 4*r.rows*r.win.Out[2]) }

// Span computes strips lo to hi, counted through all planes.
func (r *means) Span(c *run.Call, lo, hi, worker int) {
	r.clear(c, worker)
	s := sliding{counts: &r.counts[0], inverses: 8 * (r.win.Out[2] + r.lanes)}
	r.each(c, lo, hi, worker, func(plane, line, rows int, out []fp16.Bits) {
		r.load(c, worker, plane, line, rows)
		r.results(c, worker, s, r.ofRow[line:], out)
	})
}
