package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// softmax subtracts the maximum of each lane, exponentiates and divides by the
// sum. Only the exponentials are held in float32, with an error of three parts
// in 2^24. The result is rounded once.
func softmax(s *Step) (run.Runner, int) {
	l := newLanes(s.In[0].Shape, []int{s.Attrs.(int)})
	r := softmaxer{lanes: l, dtype: s.Out[0].DType}
	if s.halved() && l.row == 1 && l.run == l.length {
		return &halfSoftmaxer{r}, (l.length + 15) / 16 * 16
	}
	if t := l.turned(); t != nil && s.halved() {
		r.lanes = t.lanes
		return &turnedSoftmaxer{halfSoftmaxer{r}, t}, t.room() + t.pitch*t.tile
	}
	return &r, l.length * l.tile
}

type softmaxer struct {
	lanes lanes
	dtype mil.DType
}

func (r *softmaxer) Run(c *run.Call) { c.Spread(r.lanes.groups, 8*r.lanes.length*r.lanes.tile) }

func (r *softmaxer) Span(c *run.Call, lo, hi, worker int) {
	for g := lo; g < hi && !c.Pause(worker); g++ {
		r.group(c, c.Work[worker], g)
	}
}

// group computes the lanes of a group.
func (r *softmaxer) group(c *run.Call, m []float32, g int) {
	l := &r.lanes
	var top [maxTile]float32
	m, base, width := l.read(&c.In[0], m, &top, g)
	var sum [maxTile]float64
	for row := m; len(row) > 0; row = row[width:] {
		for t, v := range row[:width] {
			e := math.Exp(float64(v) - float64(top[t]))
			row[t] = float32(e)
			sum[t] += e
		}
	}
	for row := m; len(row) > 0; row = row[width:] {
		for t, v := range row[:width] {
			row[t] = narrow(r.dtype, float64(v)/sum[t])
		}
	}
	l.store(&c.Out[0], m, base, width, 0, l.length)
}

// halfSoftmaxer is softmaxer for lanes that are runs of halves.
type halfSoftmaxer struct{ softmaxer }

func (r *halfSoftmaxer) Span(c *run.Call, lo, hi, worker int) {
	n, work := r.lanes.length, c.Work[worker]
	for g := lo; g < hi && !c.Pause(worker); g++ {
		base, _, _ := r.lanes.group(g)
		if !r.lane(c, c.In[0].Half[base:base+n], c.Out[0].Half[base:base+n], work, worker) {
			r.group(c, work, g)
		}
	}
}

// lane computes one lane. It reports false, and computes nothing, if the greatest element is not finite.
func (r *halfSoftmaxer) lane(c *run.Call, x, out []fp16.Bits, work []float32, worker int) bool {
	reach, n := halves.NewSpan(), len(x)
	pieces(c, n, worker, func(from, to int) { reach.Add(x[from:to]) })
	_, top := reach.Ends()
	if top.IsNaN() || top.IsInf() {
		return false
	}
	var sums halves.Sums
	pieces(c, n, worker, func(from, to int) { sums.Exp(work[from:], x[from:to], float64(top.Float32())) })
	total := sums.Total()
	pieces(c, n, worker, func(from, to int) { halves.Divide(out[from:to], work[from:], total) })
	return true
}

// pieces calls f with pieces of [0, n) until the context ends.
func pieces(c *run.Call, n, worker int, f func(from, to int)) {
	for from := 0; from < n && !c.Pause(worker); from += halfStretch {
		f(from, min(from+halfStretch, n))
	}
}
