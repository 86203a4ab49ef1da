package kernels

import (
	"slices"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/engine/soft/spatial"
	"github.com/anekit/anekit/internal/ops"
)

// len is the number of elements.
func (t *Tensor) len() int { return ops.Volume(t.Shape) }

// loop is a runner of n items. f computes a piece of them, or less, from lo to hi; one of more pauses meanwhile. cost
// is the work of one item, in the units of Call.Spread.
type loop struct {
	n, cost, piece int
	f              func(c *run.Call, lo, hi, worker int)
	table          *halves.Table // that f reads, or nil
}

func newLoop(n, cost, piece int, f func(c *run.Call, lo, hi, worker int)) *loop {
	return &loop{n: n, cost: cost, piece: piece, f: f}
}

func (r *loop) Run(c *run.Call) { c.Spread(r.n, r.cost) }

func (r *loop) Span(c *run.Call, lo, hi, worker int) {
	for ; lo < hi && !c.Pause(worker); lo += r.piece {
		r.f(c, lo, min(lo+r.piece, hi), worker)
	}
}

func (r *loop) reads() *halves.Table { return r.table }

// each is a loop whose items are the elements of the result, each from those in its place alone.
type each struct {
	*loop
	finish *run.Finish
}

func newEach(n, cost, piece int, f func(c *run.Call, lo, hi, worker int)) *each {
	return &each{loop: newLoop(n, cost, piece, f)}
}

// Finish tells how a store may do the step; nil if it may not.
func (r *each) Finish() *run.Finish { return r.finish }

// Element implements run.Elementwise.
func (r *each) Element() int { return r.cost }

// decoded is a runner of the elements of a result from those of one operand, which f replaces, a chunk at a time.
// It needs a chunk of workspace.
func decoded(s *Step, cost int, f func(x []float32)) (run.Runner, int) {
	return newEach(s.Out[0].len(), cost, run.Chunk, func(c *run.Call, lo, hi, worker int) {
		x := c.Work[worker][:hi-lo]
		c.In[0].Load(x, lo)
		f(x)
		c.Out[0].Store(x, lo)
	}), run.Chunk
}

// newPairs returns an elementwise runner over broadcast operands. f computes n elements of the result, at most piece:
// those from element at on, with those of the operands from elements from on.
func newPairs(w walk, cost, piece int, f func(c *run.Call, at int, from triple, n int)) *each {
	return newEach(w.total, cost, piece, func(c *run.Call, lo, hi, _ int) {
		for lo < hi {
			from, n := w.at(lo)
			n = min(n, hi-lo)
			f(c, lo, from, n)
			lo += n
		}
	})
}

// newFloats is newPairs for operands that are decoded: f computes len(dst) elements of the result from element at on.
// dst is room for them. It returns the workspace, too.
func newFloats(w walk, cost int, f func(c *run.Call, at int, dst, x, y, z []float32)) (run.Runner, int) {
	return newEach(w.total, cost, w.total, func(c *run.Call, lo, hi, worker int) {
		work := c.Work[worker]
		var feeds [3]feed[float32]
		for k, by := range w.by {
			feeds[k] = feed[float32]{dims: w.dims, by: by, stored: c.In[k].Single, read: load, v: &c.In[k],
				room: work[(k+1)*run.Chunk:][:run.Chunk]}
		}
		w.pieces(c, lo, hi, worker, func(lo, n int) {
			var z []float32
			if len(w.by) > 2 {
				z = feeds[2].next(lo, n)
			}
			f(c, lo, work[:n], feeds[0].next(lo, n), feeds[1].next(lo, n), z)
		})
	}), (len(w.by) + 1) * run.Chunk
}

// shortRow is the length of rows that are too short to be computed one by one.
const shortRow = 64

// short reports whether the operands advance by the same elements only in short rows.
func (w *walk) short() bool { return len(w.dims) > 1 && w.dims[len(w.dims)-1] < shortRow }

// pieces calls f with the first element and the length of pieces from lo to hi: many short rows, or at most one of the
// others. It pauses between them.
func (w *walk) pieces(c *run.Call, lo, hi, worker int, f func(at, n int)) {
	row := w.dims[len(w.dims)-1]
	for n := 0; lo < hi && (n == 0 || !c.Pause(worker)); lo += n {
		if n = min(hi-lo, row-lo%row, run.Chunk); w.short() {
			n = min(hi-lo, run.Chunk/row*row) // whole rows, so that an operand that is one row stays as it was written
		}
		f(lo, n)
	}
}

// feed returns the elements of an operand in the order of the result, piece by piece.
type feed[T any] struct {
	dims, by []int
	stored   []T                               // the elements in memory, or nil for
	read     func(v *run.Vec, dst []T, at int) // those that are decoded
	v        *run.Vec
	room     []T
	from     int // the element that room begins with, counted from 1, if it may be so again; else 0
	held     int // how many elements room has then
}

// next returns the elements for elements lo to lo+n of the result.
func (f *feed[T]) next(lo, n int) []T {
	last := len(f.dims) - 1
	row, col := lo/f.dims[last], lo%f.dims[last]
	at := offset(row, f.dims[:last], f.by[:last])
	from, within := at+col*f.by[last], col+n <= f.dims[last]
	switch {
	case from+1 == f.from && n <= f.held:
		return f.room[:n]
	case dense(f.dims, f.by) || within && f.by[last] == 1:
		if f.stored != nil {
			return f.stored[from : from+n]
		}
		f.from = 0
		f.read(f.v, f.room[:n], from)
		return f.room[:n]
	}
	f.from, f.held = 0, n
	if within || !slices.ContainsFunc(f.by[:last], func(by int) bool { return by != 0 }) { // one row for all
		f.from = from + 1
	}
	for i := 0; i < n; {
		rows, step := 1, 0
		if last > 0 {
			rows, step = f.dims[last-1]-row%f.dims[last-1], f.by[last-1]
		}
		at := offset(row, f.dims[:last], f.by[:last])
		if x, halves := any(f.stored).([]fp16.Bits); halves && col+f.by[last] == 0 && step == 1 {
			room, _ := any(f.room).([]fp16.Bits)
			some := spatial.Repeat(room[i:n], x[at:at+rows], f.dims[last])
			i, at, row, rows = i+some*f.dims[last], at+some, row+some, rows-some
		}
		for ; rows > 0 && i < n; rows-- {
			to := f.room[i:min(i+f.dims[last]-col, n)]
			f.row(to, at+col*f.by[last], f.by[last])
			i += len(to)
			at += step
			row, col = row+1, 0
		}
	}
	return f.room[:n]
}

// row sets dst to elements from at on, or to one if the step is 0.
func (f *feed[T]) row(dst []T, at, step int) {
	switch {
	case step != 0 && f.stored != nil:
		copy(dst, f.stored[at:])
		return
	case step != 0:
		f.read(f.v, dst, at)
		return
	case f.stored != nil:
		dst[0] = f.stored[at] // a copy of one element takes longer
	default:
		f.read(f.v, dst[:1], at)
	}
	fill(dst, dst[0])
}

// dense reports whether strides are those of a tensor without repetition.
func dense(dims, by []int) bool {
	step := 1
	for d := len(dims) - 1; d >= 0; d-- {
		if by[d] != step {
			return false
		}
		step *= dims[d]
	}
	return true
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
	lead := len(out) - len(s)
	strides := append(make([]int, lead), ops.Strides(s)...)
	for i, n := range s {
		if n == 1 {
			strides[lead+i] = 0
		}
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

// narrow prepares a float64 for storing as d. For fp16 it rounds to odd, so that the second rounding, to fp16, gives
// the same result as a single rounding.
func narrow(d mil.DType, f float64) float32 {
	if d == mil.FP16 {
		return halves.ToOdd(f)
	}
	return float32(f)
}
