package spatial

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
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
	p := newPlane(w, keys, 0)
	if p == nil {
		return nil, 0
	}
	p.many = 1
	return &maxima{p, planes, other}, max(p.words(), room)
}

func (r *maxima) Run(c *run.Call) { c.Spread(r.planes*r.strips, 3*r.rows*r.win.Out[2]) }

// Span computes strips lo to hi, counted through all planes.
func (r *maxima) Span(c *run.Call, lo, hi, worker int) {
	r.clear(c, worker)
	r.each(c, lo, hi, worker, func(plane, line, rows int, out []fp16.Bits) {
		if !r.load(c, worker, plane, 1, line, rows) {
			r.results(c, worker, 1, sliding{}, nil, out)
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

// means is avg_pool. Sums are exact: of int32 while the magnitudes under a window add up to less than 128, else of
// float64. A product with the inverse of a count errs by less than 2^-51 of itself. It is rounded to 50 digits, which
// gives the quotient where that has fewer. Any other differs from one halfway between two halves by 2^-49 of itself or
// more, because a sum is a multiple of 2^-24 and a count at most mostTaps. other computes the lines of strips with a NaN:
// its bits depend on the order of the additions.
type means struct {
	*plane   // of units
	wide     *plane
	planes   int
	other    run.Runner
	inverses []float64
	shorts   []float32 // inverses times 2^-24
	ofRow    []int     // for each line of the result the element at which its inverses begin
}

// mostInverses bounds the inverses of a runner.
const mostInverses = 1 << 16

// Means returns the runner of avg_pool for planes of x under windows over three axes, and the float32s of its
// workspace. The items of other, which takes some workspace, are the lines of the result.
func Means(w ops.Window, planes int, other run.Runner, room int) (run.Runner, int) {
	p := newPlane(w, units, 0)
	if p == nil {
		return nil, 0
	}
	wide := newPlane(w, doubles, p.rows)
	if wide == nil {
		return nil, 0
	}
	p.many, wide.many = 1, 1
	p.rest.limit = uint16(fp16.FromFloat64(127 / float64(len(p.offsets))))
	r := &means{plane: p, wide: wide, planes: planes, other: other, ofRow: make([]int, w.Out[1]+tileRows)}
	known := map[int]int{}
	for i := range w.Out[1] {
		high := count(&w, 1, i)
		at, ok := known[high]
		if !ok {
			at = len(r.inverses)
			known[high] = at
			row := make([]float64, w.Out[2]+p.lanes)
			for j := range w.Out[2] {
				row[j] = 1 / float64(high*count(&w, 2, j))
			}
			if r.inverses = append(r.inverses, row...); len(r.inverses) > mostInverses {
				return nil, 0
			}
		}
		r.ofRow[i] = at
	}
	for _, f := range r.inverses {
		r.shorts = append(r.shorts, float32(f*0x1p-24))
	}
	return r, max(p.words(), wide.words(), room)
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
	s := sliding{inverses: &r.inverses[0], shorts: &r.shorts[0]}
	r.each(c, lo, hi, worker, func(plane, line, rows int, out []fp16.Bits) {
		if !r.load(c, worker, plane, 1, line, rows) {
			r.results(c, worker, 1, s, r.ofRow[line:], out)
			return
		}
		r.wide.clear(c, worker)
		r.wide.load(c, worker, plane, 1, line, rows)
		r.wide.results(c, worker, 1, s, r.ofRow[line:], out)
		span := halves.NewSpan()
		span.Add(out)
		if low, _ := span.Ends(); low.IsNaN() {
			at := plane*r.win.Out[1] + line
			r.other.Span(c, at, at+rows, worker)
		}
		r.clear(c, worker)
	})
}
