package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
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

// walk visits two operands in the order of their broadcast result. It merges
// axes along which both operands advance in the same way.
type walk struct {
	total        int
	dims, xs, ys []int // merged axes, strides in elements, 0 where repeated
	xstep, ystep int   // strides along the last axis: 0 or 1
}

// broadcast plans the walk for operands of shapes x and y.
func broadcast(out, x, y []int) walk {
	w := walk{total: ops.Volume(out)}
	w.dims, w.xs, w.ys = merge(out, repeated(out, x), repeated(out, y))
	last := len(w.dims) - 1
	w.xstep, w.ystep = w.xs[last], w.ys[last]
	return w
}

// merge joins neighbouring axes that are contiguous in both tensors and drops
// axes of length 1. It keeps at least one axis. by and to are the tensors'
// strides.
func merge(dims, by, to []int) (merged, mergedBy, mergedTo []int) {
	for i, n := range dims {
		if n == 1 {
			continue
		}
		last := len(merged) - 1
		if last >= 0 && mergedBy[last] == by[i]*n && mergedTo[last] == to[i]*n {
			merged[last] *= n
			mergedBy[last], mergedTo[last] = by[i], to[i]
			continue
		}
		merged, mergedBy, mergedTo = append(merged, n), append(mergedBy, by[i]), append(mergedTo, to[i])
	}
	if len(merged) == 0 {
		return []int{1}, []int{1}, []int{1}
	}
	return merged, mergedBy, mergedTo
}

// repeated returns the strides, along the axes of out, of a dense operand of
// shape s. The stride is 0 along an axis that repeats the operand.
func repeated(out, s []int) []int {
	strides := make([]int, len(out))
	step := 1
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] != 1 {
			strides[i+len(out)-len(s)] = step
		}
		step *= s[i]
	}
	return strides
}

// at returns the offsets of the operands for element i of the result, and the
// number of elements from i to the end of the last axis.
func (w *walk) at(i int) (x, y, n int) {
	last := len(w.dims) - 1
	col := i % w.dims[last]
	n = w.dims[last] - col
	x, y = col*w.xs[last], col*w.ys[last]
	i /= w.dims[last]
	for d := last - 1; d >= 0; d-- {
		k := i % w.dims[d]
		x += k * w.xs[d]
		y += k * w.ys[d]
		i /= w.dims[d]
	}
	return x, y, n
}

// toOdd rounds f to float32 so that inexact results have an odd last bit.
// Rounding that to a format at least two bits narrower gives the correctly
// rounded value of f (Boldo and Melquiond, "Emulation of FMA and correctly
// rounded sums: proved algorithms using rounding to odd", 2008).
func toOdd(f float64) float32 {
	b := math.Float64bits(f)
	if b>>52&0x7ff-897 < 253 { // from the least normal float32 to 2^127: no jump depends on what is dropped
		const dropped = 1<<29 - 1
		return math.Float32frombits(uint32(b>>32)&(1<<31) | uint32((b&(1<<63-1)-896<<52)>>29) |
			uint32((b&dropped+dropped)>>29))
	}
	return toOddRare(f)
}

// toOddRare is toOdd for every number.
func toOddRare(f float64) float32 {
	r := float32(f)
	back := float64(r)
	if back == f || f != f || math.IsInf(back, 0) {
		return r
	}
	b := math.Float32bits(r)
	if math.Abs(back) > math.Abs(f) {
		b-- // toward zero
	}
	return math.Float32frombits(b | 1)
}

// narrow prepares a float64 for storing as d. For fp16 it rounds to odd, so
// that the second rounding, to fp16, gives the same result as a single
// rounding.
func narrow(d mil.DType, f float64) float32 {
	if d == mil.FP16 {
		return toOdd(f)
	}
	return float32(f)
}
