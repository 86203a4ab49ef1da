package kernels

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// turnedLanes are lanes of halves that lie side by side. A group of them is turned into runs in the workspace, where
// the kernels of runs compute in place, and turned back.
type turnedLanes struct {
	lanes
	pitch int   // halves between two runs
	runs  lanes // describes one of them
}

// Limits of lanes that are turned: for shorter ones a run costs too much, and 32 longer ones no cache holds.
const (
	turnedLeast = 8
	turnedMost  = 1 << 14
	turnedWidth = 32
)

// turned returns nil for lanes that are runs, and for those that are too short or too long.
func (l lanes) turned() *turnedLanes {
	if l.row == 1 || l.length < turnedLeast || l.length > turnedMost {
		return nil
	}
	l.widen(turnedWidth)
	runs := lanes{length: l.length, run: l.length, row: 1}
	return &turnedLanes{lanes: l, pitch: (l.length + 15) / 16 * 16, runs: runs}
}

// room is the floats of the workspace that the runs take. They come first.
func (l *turnedLanes) room() int { return l.tile * l.pitch / 2 }

// take turns the lanes of a group, and returns the workspace from the first run on.
func (l *turnedLanes) take(c *run.Call, base, width, worker int) []fp16.Bits {
	room := &c.Rooms[worker]
	l.rows(base, func(mem, j, n, stride int) {
		halves.Transpose(room.Pairs[j:], c.In[0].Pairs[mem:], n, width, l.pitch, stride)
	})
	return room.Half
}

// give turns them back into the result.
func (l *turnedLanes) give(c *run.Call, base, width, worker int) {
	room := &c.Rooms[worker]
	l.rows(base, func(mem, j, n, stride int) {
		halves.Transpose(c.Out[0].Pairs[mem:], room.Pairs[j:], width, n, stride, l.pitch)
	})
}

// rows calls f for elements of lanes that lie side by side, as many at a time as lie at one distance: the offset of
// the first, its index, the number, and the distance.
func (l *lanes) rows(base int, f func(mem, j, n, stride int)) {
	last := len(l.folded) - 1
	for j := 0; j < l.length; {
		mem, _ := l.at(base, j)
		n := l.folded[last] // j is a multiple of it
		f(mem, j, n, l.foldBy[last])
		j += n
	}
}

// turnedSoftmaxer is halfSoftmaxer for such lanes.
type turnedSoftmaxer struct {
	halfSoftmaxer
	turned *turnedLanes
}

func (*turnedSoftmaxer) ViewsHalves() {}

func (r *turnedSoftmaxer) Span(c *run.Call, lo, hi, worker int) {
	l := r.turned
	work := c.Work[worker][l.room():]
	for g := lo; g < hi && !c.Pause(worker); g++ {
		base, width, _ := l.group(g)
		x, finite := l.take(c, base, width, worker), true
		for t := 0; t < width && finite; t++ {
			lane := x[t*l.pitch:][:l.length]
			finite = r.lane(c, lane, lane, work, worker)
		}
		if finite {
			l.give(c, base, width, worker)
		} else {
			r.softmaxer.group(c, work, g)
		}
	}
}

// turnedNormer is halfNormer for such lanes.
type turnedNormer struct {
	halfNormer
	turned *turnedLanes
}

func (*turnedNormer) ViewsHalves() {}

func (r *turnedNormer) Span(c *run.Call, lo, hi, worker int) {
	l := r.turned
	var p normParams
	for g := lo; g < hi && !c.Pause(worker); g++ {
		base, width, _ := l.group(g)
		x := l.take(c, base, width, worker)
		for t := range width {
			r.lane(c, &l.runs, x, x, t*l.pitch, 0, &p)
		}
		l.give(c, base, width, worker)
	}
}
