package kernels

import (
	"slices"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/matrix"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// lanes splits a dense tensor into lanes: one lane over the folded axes for each position along the kept axes. Kernels
// process up to tile neighbouring lanes together, as a matrix with one lane per column, so that they read memory in
// runs.
type lanes struct {
	length int   // elements of a lane
	row    int   // lanes side by side in memory; 1 if the lanes themselves are runs
	run    int   // consecutive elements of a lane in memory
	kept   []int // lengths of the kept axes, without the last if row > 1
	keptBy []int // their strides in elements
	folded []int // lengths of the folded axes, without the last if run > 1
	foldBy []int
	tile   int
}

// maxTile bounds the lanes of a group, so that their sums fit on the stack.
const maxTile = 64

// laneRoom bounds the float32s of a group: 1 MiB, unless a single lane is longer.
const laneRoom = 1 << 18

// newLanes plans the lanes of a tensor folded along axes.
func newLanes(shape, axes []int) *lanes {
	l := &lanes{length: 1, row: 1, run: 1, tile: 1}
	var dims, strides [2][]int // of the kept axes, and of those folded
	for i, by := range ops.Strides(shape) {
		k := 0
		if slices.Contains(axes, i) {
			k, l.length = 1, l.length*shape[i]
		}
		dims[k], strides[k] = append(dims[k], shape[i]), append(strides[k], by)
	}
	kept, keptBy := merge(dims[0], strides[0])
	folded, foldBy := merge(dims[1], strides[1])
	l.kept, l.keptBy, l.folded, l.foldBy = kept, keptBy[0], folded, foldBy[0]
	if k := len(l.kept) - 1; l.keptBy[k] == 1 && l.kept[k] > 1 {
		l.row, l.kept, l.keptBy = l.kept[k], l.kept[:k], l.keptBy[:k]
		l.tile = min(max(laneRoom/l.length, 1), maxTile, l.row)
	} else if k := len(l.folded) - 1; l.foldBy[k] == 1 {
		l.run, l.folded, l.foldBy = l.folded[k], l.folded[:k], l.foldBy[:k]
	}
	return l
}

// across is the number of groups of tile lanes side by side, of which the last may be narrower.
func (l *lanes) across() int { return (l.row + l.tile - 1) / l.tile }

func (l *lanes) groups() int { return ops.Volume(l.kept) * l.across() }

// loop is a runner whose items are the groups. cost is the work of an element.
func (l *lanes) loop(cost int, f func(c *run.Call, g, _, worker int)) *loop {
	return newLoop(l.groups(), cost*l.length*l.tile, 1, f)
}

// part is how many elements of a lane a kernel may read at a time.
func (l *lanes) part() int { return max(run.Chunk/l.tile, 1) }

// group returns the offset of group g, its number of lanes, and the index of its first lane in a dense result.
func (l *lanes) group(g int) (base, width, lane int) {
	across := l.across()
	col := g % across * l.tile
	g /= across
	return col + offset(g, l.kept, l.keptBy), min(l.tile, l.row-col), g*l.row + col
}

// offset converts a row-major index into an offset.
func offset(i int, dims, by []int) int { return matrix.Offset(i, dims, by) }

// at returns the offset of element j of a group's first lane, and the number of consecutive elements from there.
func (l *lanes) at(base, j int) (mem, n int) {
	return base + j%l.run + offset(j/l.run, l.folded, l.foldBy), l.run - j%l.run
}

// dense reports whether width lanes are rows without gaps, as where few lanes are side by side.
func (l *lanes) dense(width int) bool {
	return l.row > 1 && width == l.row && len(l.folded) == 1 && l.foldBy[0] == l.row
}

// load fills m with elements [from, to) of a group's lanes, one row per element index.
func (l *lanes) load(v *run.Vec, m []float32, base, width, from, to int) {
	l.parts(base, width, from, to, func(mem, at, n int) { v.Load(m[at:at+n], mem) })
}

// store writes elements [from, to) of a group's lanes, which load has filled or the kernel replaced.
func (l *lanes) store(v *run.Vec, m []float32, base, width, from, to int) {
	l.parts(base, width, from, to, func(mem, at, n int) { v.Store(m[at:at+n], mem) })
}

// parts calls f with the runs of memory of elements [from, to) of a group's lanes: the offset, the place among them as
// rows, and the length.
func (l *lanes) parts(base, width, from, to int, f func(mem, at, n int)) {
	if l.dense(width) {
		f(base+from*width, 0, (to-from)*width)
		return
	}
	for j := from; j < to; {
		mem, n := l.at(base, j)
		n = min(n, to-j)
		f(mem, (j-from)*width, n*width)
		j += n
	}
}

// visit decodes the lanes of a group into m, some elements of each at a time, and calls f with those and the index of
// the first.
func (l *lanes) visit(c *run.Call, m []float32, base, width int, f func(m []float32, from int)) {
	for from := 0; from < l.length && !c.Stopped(); from += l.part() {
		to := min(from+l.part(), l.length)
		l.load(&c.In[0], m, base, width, from, to)
		f(m[:(to-from)*width], from)
	}
}

// runs calls f with the runs of a group's first lane, in pieces of most elements or fewer: the offset in memory, the
// index in the lane and the length. It pauses before each but the first.
func (l *lanes) runs(c *run.Call, base, most, worker int, f func(at, j, n int)) {
	if l.run == l.length && l.length <= most {
		f(base, 0, l.length)
		return
	}
	for j := 0; j < l.length && (j == 0 || !c.Pause(worker)); {
		at, n := l.at(base, j)
		n = min(n, most)
		f(at, j, n)
		j += n
	}
}

// rows calls f for lanes side by side, each time with up to most elements of a lane at one distance. f gets the offset
// of the first, its index, the number, and the distance.
func (l *lanes) rows(c *run.Call, base, most int, f func(at, j, n, stride int)) {
	last := len(l.folded) - 1
	for j := 0; j < l.length && !c.Stopped(); {
		at, _ := l.at(base, j)
		n := min(l.folded[last]-j%l.folded[last], most)
		f(at, j, n, l.foldBy[last])
		j += n
	}
}

// Limits of lanes of halves side by side that are transposed into runs. A run costs too much for shorter lanes, and
// transposedWidth longer lanes exceed the cache.
const (
	transposedLeast = 8
	transposedMost  = 1 << 14
	transposedWidth = 32
)

// asRuns returns the lanes for inRuns. Unless all is set, it is nil for those side by side that are too short or long.
func (l *lanes) asRuns(all bool) *lanes {
	switch {
	case l.row == 1:
		return l
	case !all && (l.length < transposedLeast || l.length > transposedMost):
		return nil
	}
	wide := *l
	wide.tile = min(l.row, transposedWidth, max(2*laneRoom/l.pitch(), 1))
	return &wide
}

// pitch is the halves from one transposed lane to the next.
func (l *lanes) pitch() int { return (l.length + 15) / 16 * 16 }

// room is the floats of the workspace that lanes take as runs. They come first.
func (l *lanes) room() int {
	if l.row == 1 {
		return 0
	}
	return l.tile * l.pitch() / 2
}

// halfLane is a lane of halves, whose runs in x and in out the lanes tell. out may be x.
type halfLane struct {
	*lanes
	c                   *run.Call
	x, out              []fp16.Bits
	base, index, worker int // the first element, the lane's number, the goroutine
}

// runs calls f with the runs of the lane.
func (h *halfLane) runs(most int, f func(at, j, n int)) { h.lanes.runs(h.c, h.base, most, h.worker, f) }

// inRuns is a runner that calls compute for n lanes of halves, the first one and those each stride further on. It
// transposes lanes side by side into runs in the workspace, and back.
func (l *lanes) inRuns(cost int, compute func(h halfLane, n, stride int)) *loop {
	if l.row > 1 {
		return l.transposedLoop(cost, compute)
	}
	last := len(l.kept) - 1
	return newLoop(l.groups(), cost*l.length, max(halfStretch/l.length, 1), func(c *run.Call, lo, hi, worker int) {
		for g, n := lo, 0; g < hi; g += n {
			n = min(hi-g, l.kept[last]-g%l.kept[last])
			base := offset(g, l.kept, l.keptBy)
			compute(halfLane{l, c, c.In[0].Half, c.Out[0].Half, base, g, worker}, n, l.keptBy[last])
		}
	})
}

// oneByOne makes a function of one lane one for inRuns.
func oneByOne(compute func(h halfLane)) func(h halfLane, n, stride int) {
	return func(h halfLane, n, stride int) {
		for ; n > 0; n, h.base, h.index = n-1, h.base+stride, h.index+1 {
			compute(h)
		}
	}
}

func (l *lanes) transposedLoop(cost int, compute func(h halfLane, n, stride int)) *loop {
	one, pitch := &lanes{length: l.length, run: l.length, row: 1}, l.pitch()
	return l.loop(cost, func(c *run.Call, g, _, worker int) {
		base, width, index := l.group(g)
		room := &c.Rooms[worker]
		l.rows(c, base, l.length, func(at, j, n, stride int) {
			halves.Transpose(room.Pairs[j:], c.In[0].Pairs[at:], n, width, pitch, stride)
		})
		x := room.Half[:(width-1)*pitch+l.length]
		compute(halfLane{one, c, x, x, 0, index, worker}, width, pitch)
		l.rows(c, base, l.length, func(at, j, n, stride int) {
			halves.Transpose(c.Out[0].Pairs[at:], room.Pairs[j:], width, n, stride, pitch)
		})
	})
}
