package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// len is the number of elements.
func (t *Tensor) len() int { return ops.Volume(t.Shape) }

// loop is a runner of n items. f computes a piece of them, or less, from lo to hi; one of more pauses meanwhile. cost is
// the work of one item, in the units of Call.Spread.
type loop struct {
	n, cost, piece int
	f              func(c *run.Call, lo, hi, worker int)
	table          *table // that f reads, or nil
}

func newLoop(n, cost, piece int, f func(c *run.Call, lo, hi, worker int)) *loop {
	return &loop{n: n, cost: cost, piece: piece, f: f}
}

func (r *loop) Run(c *run.Call) {
	r.table.make()
	c.Spread(r.n, r.cost)
}

func (r *loop) Span(c *run.Call, lo, hi, worker int) {
	for ; lo < hi && !c.Pause(worker); lo += r.piece {
		r.f(c, lo, min(lo+r.piece, hi), worker)
	}
}

func (r *loop) reads() *table { return r.table }

// each is a loop whose items are the elements of the result, each from those in its place alone.
type each struct{ *loop }

func newEach(n, cost, piece int, f func(c *run.Call, lo, hi, worker int)) *each {
	return &each{newLoop(n, cost, piece, f)}
}

// Element implements run.Elementwise.
func (r *each) Element() int {
	r.table.make()
	return r.cost
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

// pairs is an elementwise runner over broadcast operands: f computes n elements of the result from element at on, at
// most piece of them, with those of the operands from elements from on.
type pairs struct {
	walk
	cost, piece int
	f           func(c *run.Call, at int, from triple, n, worker int)
}

func (r *pairs) Run(c *run.Call) { c.Spread(r.total, r.cost) }

// Element implements run.Elementwise.
func (r *pairs) Element() int { return r.cost }

func (r *pairs) Span(c *run.Call, lo, hi, worker int) {
	for lo < hi && !c.Pause(worker) {
		from, n := r.at(lo)
		n = min(n, hi-lo, r.piece)
		r.f(c, lo, from, n, worker)
		lo += n
	}
}

// floats is pairs for operands that are decoded: f computes len(dst) elements of the result from element at on. dst is
// room for them.
type floats struct {
	walk
	cost int
	f    func(c *run.Call, at int, dst, x, y, z []float32)
}

// newFloats returns floats and the workspace that it needs.
func newFloats(w walk, cost int, f func(c *run.Call, at int, dst, x, y, z []float32)) (run.Runner, int) {
	return &floats{w, cost, f}, (len(w.by) + 1) * run.Chunk
}

func (r *floats) Run(c *run.Call) { c.Spread(r.total, r.cost) }

// Element implements run.Elementwise.
func (r *floats) Element() int { return r.cost }

func (r *floats) Span(c *run.Call, lo, hi, worker int) {
	work := c.Work[worker]
	var feeds [3]feed
	for k, by := range r.by {
		feeds[k] = feed{room: work[:run.Chunk], v: &c.In[k], step: by[len(by)-1]}
		work = work[run.Chunk:]
	}
	for lo < hi && !c.Pause(worker) {
		from, n := r.at(lo)
		n = min(n, hi-lo, run.Chunk)
		var z []float32
		if len(r.by) > 2 {
			z = feeds[2].next(from.z, n)
		}
		r.f(c, lo, work[:n], feeds[0].next(from.x, n), feeds[1].next(from.y, n), z)
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
	case f.step != 0 && f.v.Single != nil:
		return f.v.Single[at : at+n]
	case f.step != 0:
		load(f.v, dst, at)
	case at+1 != f.held:
		// Runs of one element do not become longer: they are the rest of a row.
		load(f.v, dst[:1], at)
		for i := range dst {
			dst[i] = dst[0]
		}
		f.held = at + 1
	}
	return dst
}

// load decodes elements of any type that float32 holds.
func load(v *run.Vec, dst []float32, at int) {
	if v.DType.Float() || v.DType == mil.Int8 {
		v.Load(dst, at)
		return
	}
	for i := range dst {
		dst[i] = float32(v.Value(at + i))
	}
}

// triple is a number for each operand of a walk. Unlike an array it is passed in registers.
type triple struct{ x, y, z int }

// walk visits up to three operands in the order of their broadcast result. It
// merges axes along which all of them advance in the same way.
type walk struct {
	total int
	dims  []int    // merged axes
	by    [][]int  // strides of each operand in elements, 0 where it is repeated
	steps []triple // the same of each axis
	step  triple   // those of the last axis: 0 or 1
}

// broadcast plans the walk for operands of some shapes.
func broadcast(out []int, operands ...[]int) walk {
	w := walk{total: ops.Volume(out)}
	for _, shape := range operands {
		w.by = append(w.by, repeated(out, shape))
	}
	w.dims, w.by = merge(out, w.by...)
	for d := range w.dims {
		var step [3]int
		for k, by := range w.by {
			step[k] = by[d]
		}
		w.steps = append(w.steps, triple{step[0], step[1], step[2]})
	}
	w.step = w.steps[len(w.steps)-1]
	return w
}

// merge joins neighbouring axes that are contiguous in all tensors, and drops
// axes of length 1. It keeps at least one axis. by are the tensors' strides.
func merge(dims []int, by ...[]int) (merged []int, mergedBy [][]int) {
	mergedBy = make([][]int, len(by))
	for i, n := range dims {
		if n == 1 {
			continue
		}
		last := len(merged) - 1
		joins := last >= 0
		for k := range by {
			joins = joins && mergedBy[k][last] == by[k][i]*n
		}
		if joins {
			merged[last] *= n
		} else {
			merged, last = append(merged, n), last+1
		}
		for k := range by {
			mergedBy[k] = append(mergedBy[k][:last], by[k][i])
		}
	}
	if len(merged) == 0 {
		merged = []int{1}
		for k := range by {
			mergedBy[k] = []int{1}
		}
	}
	return merged, mergedBy
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
func (w *walk) at(i int) (from triple, n int) {
	for d := len(w.dims) - 1; d >= 0; d-- {
		k := i % w.dims[d]
		if n == 0 {
			n = w.dims[d] - k
		}
		step := &w.steps[d]
		from.x, from.y, from.z = from.x+k*step.x, from.y+k*step.y, from.z+k*step.z
		i /= w.dims[d]
	}
	return from, n
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
