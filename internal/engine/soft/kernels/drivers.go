package kernels

import (
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// len is the number of elements.
func (t *Tensor) len() int { return ops.Volume(t.Shape) }

// loop is a runner of n items, each of which f computes alone. cost is the work of one, in the units of Call.Spread.
type loop struct {
	n, cost int
	f       func(c *run.Call, i, worker int)
	table   *table // that f reads, or nil
}

func newLoop(n, cost int, f func(c *run.Call, i, worker int)) *loop {
	return &loop{n: n, cost: cost, f: f}
}

func (r *loop) Run(c *run.Call) {
	r.table.make()
	c.Spread(r.n, r.cost)
}

func (r *loop) Span(c *run.Call, lo, hi, worker int) {
	for i := lo; i < hi && !c.Pause(worker); i++ {
		r.f(c, i, worker)
	}
}

// ranges is a runner of n items, of which f computes those from lo to hi and pauses meanwhile.
type ranges struct {
	n, cost int
	f       func(c *run.Call, lo, hi, worker int)
}

func (r *ranges) Run(c *run.Call) { c.Spread(r.n, r.cost) }

func (r *ranges) Span(c *run.Call, lo, hi, worker int) { r.f(c, lo, hi, worker) }

// each is an elementwise runner of n elements. f computes a piece of them, or less, from lo to hi.
type each struct {
	n, cost, piece int
	f              func(c *run.Call, lo, hi, worker int)
	table          *table // that f reads, or nil
}

func newEach(n, cost, piece int, f func(c *run.Call, lo, hi, worker int)) *each {
	return &each{n: n, cost: cost, piece: piece, f: f}
}

func (r *each) Run(c *run.Call) { c.Spread(r.n, r.Element()) }

// Element implements run.Elementwise.
func (r *each) Element() int {
	r.table.make()
	return r.cost
}

func (r *each) Span(c *run.Call, lo, hi, worker int) {
	for ; lo < hi && !c.Pause(worker); lo += r.piece {
		r.f(c, lo, min(lo+r.piece, hi), worker)
	}
}

// decoded is a runner of the elements of a result from those of one operand, which f replaces, a chunk at a time.
// It needs a chunk of workspace.
func decoded(s *Step, cost int, f func(c *run.Call, x []float32, at int)) (run.Runner, int) {
	return newEach(s.Out[0].len(), cost, run.Chunk, func(c *run.Call, lo, hi, worker int) {
		x := c.Work[worker][:hi-lo]
		c.In[0].Load(x, lo)
		f(c, x, lo)
		c.Out[0].Store(x, lo)
	}), run.Chunk
}

// pairs is an elementwise runner over two broadcast operands: f computes n elements of the result from element at on,
// at most piece of them, with those of the operands from x and y on.
type pairs struct {
	walk
	cost, piece int
	f           func(c *run.Call, at, x, y, n, worker int)
}

func (r *pairs) Run(c *run.Call) { c.Spread(r.total, r.cost) }

// Element implements run.Elementwise.
func (r *pairs) Element() int { return r.cost }

func (r *pairs) Span(c *run.Call, lo, hi, worker int) {
	for lo < hi && !c.Pause(worker) {
		x, y, n := r.at(lo)
		n = min(n, hi-lo, r.piece)
		r.f(c, lo, x, y, n, worker)
		lo += n
	}
}

// floats is pairs for operands that are decoded: f computes len(dst) elements of the result from element at on. dst is
// room for them. It needs three chunks of workspace.
type floats struct {
	walk
	cost int
	f    func(c *run.Call, at int, dst, x, y []float32)
}

func (r *floats) Run(c *run.Call) { c.Spread(r.total, r.cost) }

// Element implements run.Elementwise.
func (r *floats) Element() int { return r.cost }

func (r *floats) Span(c *run.Call, lo, hi, worker int) {
	work := c.Work[worker]
	x := feed{room: work[:run.Chunk], v: &c.In[0], step: r.xstep}
	y := feed{room: work[run.Chunk : 2*run.Chunk], v: &c.In[1], step: r.ystep}
	for lo < hi && !c.Pause(worker) {
		xat, yat, n := r.at(lo)
		n = min(n, hi-lo, run.Chunk)
		r.f(c, lo, work[2*run.Chunk:][:n], x.next(xat, n), y.next(yat, n))
		lo += n
	}
}

// feed returns decoded elements of an operand, run by run.
type feed struct {
	room []float32
	v    *run.Vec
	step int // 0 repeats one element
	held int // the element that room repeats, counted from 1; 0 for none
}

// next returns n elements, starting at element at.
func (f *feed) next(at, n int) []float32 {
	dst := f.room[:n]
	switch {
	case f.step != 0:
		f.v.Load(dst, at)
	case at+1 != f.held:
		// Runs of one element do not become longer: they are the rest of a row.
		f.v.Load(dst[:1], at)
		for i := range dst {
			dst[i] = dst[0]
		}
		f.held = at + 1
	}
	return dst
}
