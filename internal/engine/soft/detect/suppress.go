// Package detect computes the operators that end detectors and classifiers. Package kernels has it in its table.
package detect

import (
	"math"

	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// Suppress returns the runner of non_maximum_suppression for boxes and scores of some shapes, and the float32s of
// workspace that each worker needs.
//
// Boxes are taken in the order of their scores, of equal ones the first. One that overlaps a chosen box too much is
// left out. Where no score reaches the least, the box with the greatest is chosen. The places after the last chosen box
// have zeros, and the index -1. Overlaps are computed in float64. A score that is no number is less than all others.
func Suppress(a ops.Suppression, boxes, scores []int) (run.Runner, int) {
	list, row := 1, 2 // axes of the boxes, and of what belongs to one
	if a.Columns {
		list, row = 2, 1
	}
	r := &suppressor{Suppression: a, batch: boxes[0], boxes: boxes[list], classes: scores[row]}
	return r, 3*r.boxes + min(a.Most, r.boxes)
}

type suppressor struct {
	ops.Suppression
	batch, boxes, classes int
}

// Run implements run.Runner.
func (r *suppressor) Run(c *run.Call) { c.Spread(r.batch, 8*r.boxes*min(r.Most, r.boxes)) }

// Span chooses boxes of the images from lo to hi.
func (r *suppressor) Span(c *run.Call, lo, hi, worker int) {
	for i := lo; i < hi && !c.Pause(worker); i++ {
		b := image{suppressor: r, c: c, worker: worker, at: i}
		words, n := c.Words[worker], r.boxes
		b.order, b.class, b.chosen = words[:0:n], words[n:2*n], words[3*n:][:0:min(r.Most, n)]
		b.score = c.Work[worker][2*n : 3*n]
		if b.rank(); b.choose() {
			b.give()
		}
	}
}

// pauseEvery is after how many boxes a step pauses.
const pauseEvery = 1 << 10

// image is one item of the batch.
type image struct {
	*suppressor
	c          *run.Call
	worker, at int
	order      []int32 // the boxes that are left: a heap whose root is the next one
	class      []int32
	score      []float32
	chosen     []int32
}

// place is where element k of box i lies in a tensor with n elements for each box.
func (b *image) place(i, k, n, boxes int) int {
	if b.Columns {
		return (b.at*n+k)*boxes + i
	}
	return (b.at*boxes+i)*n + k
}

// rank finds the score and the class of each box, and makes a heap of those that have the least score.
func (b *image) rank() {
	for i := range b.boxes {
		if i%pauseEvery == 0 && b.c.Pause(b.worker) {
			return
		}
		best, class := math.Inf(-1), 0
		for k := range b.classes {
			if s := b.c.In[1].Value(b.place(i, k, b.classes, b.boxes)); s > best {
				best, class = s, k
			}
		}
		b.score[i], b.class[i] = float32(best), int32(class)
		if !(best < b.Least) {
			b.order = append(b.order, int32(i))
		}
	}
	for i := len(b.order)/2 - 1; i >= 0; i-- {
		b.down(i)
	}
}

// before reports whether box i comes before box j.
func (b *image) before(i, j int32) bool {
	return b.score[i] > b.score[j] || b.score[i] == b.score[j] && i < j
}

// down moves an entry of the heap to its place.
func (b *image) down(i int) {
	for h := b.order; ; {
		k := 2*i + 1
		if k+1 < len(h) && b.before(h[k+1], h[k]) {
			k++
		}
		if k >= len(h) || !b.before(h[k], h[i]) {
			return
		}
		h[i], h[k] = h[k], h[i]
		i = k
	}
}

// choose fills chosen. It returns false if the run ends meanwhile.
func (b *image) choose() bool {
	for n := 0; len(b.order) > 0 && len(b.chosen) < b.Most; n++ {
		if n%(pauseEvery/(1+len(b.chosen)/64)+1) == 0 && b.c.Pause(b.worker) {
			return false
		}
		next, last := b.order[0], len(b.order)-1
		b.order[0] = b.order[last]
		b.order = b.order[:last]
		b.down(0)
		if !b.suppressed(next) {
			b.chosen = append(b.chosen, next)
		}
	}
	if len(b.chosen) == 0 {
		best := int32(0)
		for i := range int32(b.boxes) {
			if b.before(i, best) {
				best = i
			}
		}
		b.chosen = append(b.chosen, best)
	}
	return !b.c.Stopped()
}

// suppressed reports whether a chosen box leaves box i out.
func (b *image) suppressed(i int32) bool {
	for _, k := range b.chosen {
		if (!b.PerClass || b.class[k] == b.class[i]) && b.overlap(int(i), int(k)) > b.Overlap {
			return true
		}
	}
	return false
}

// extent returns the ends of a box along an axis.
func (b *image) extent(i, axis int) (from, to float64) {
	center := b.c.In[0].Value(b.place(i, axis, 4, b.boxes))
	half := b.c.In[0].Value(b.place(i, axis+2, 4, b.boxes)) / 2
	return min(center-half, center+half), max(center-half, center+half)
}

// overlap is the intersection of two boxes over their union, 0 for a box without area.
func (b *image) overlap(i, j int) float64 {
	both, one, other := 1.0, 1.0, 1.0
	for axis := range 2 {
		from, to := b.extent(i, axis)
		start, end := b.extent(j, axis)
		both *= max(0, min(to, end)-max(from, start))
		one, other = one*(to-from), other*(end-start)
	}
	if !(one > 0 && other > 0) {
		return 0
	}
	return both / (one + other - both)
}

// give writes the results.
func (b *image) give() {
	for k, n := range []int{4, b.classes} {
		in, out := &b.c.In[k], &b.c.Out[k]
		size := element.Size(in.DType)
		for to := range b.Most {
			for e := range n {
				dst := out.Raw[b.place(to, e, n, b.Most)*size:][:size]
				if clear(dst); to < len(b.chosen) {
					copy(dst, in.Raw[b.place(int(b.chosen[to]), e, n, b.boxes)*size:])
				}
			}
		}
	}
	for to := range b.Most {
		index := int32(-1)
		if to < len(b.chosen) {
			index = b.chosen[to]
		}
		b.c.Out[2].Ints[b.at*b.Most+to] = index
	}
	if !b.Columns {
		b.c.Out[3].Ints[b.at] = int32(len(b.chosen))
	}
}
