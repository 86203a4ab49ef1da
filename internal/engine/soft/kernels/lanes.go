package kernels

import (
	"slices"

	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// lanes splits a dense tensor into lanes: one lane over the folded axes for
// each position along the kept axes. Kernels process up to tile neighbouring
// lanes together, as a matrix with one lane per column, so that they read
// memory in runs.
type lanes struct {
	length int   // elements of a lane
	groups int   // groups of tile lanes; the last of each row may be narrower
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

// laneRoom bounds the float32s of a group: 1 MiB, unless a single lane is
// longer.
const laneRoom = 1 << 18

// newLanes plans the lanes of a tensor folded along axes.
func newLanes(shape, axes []int) lanes {
	l := lanes{length: 1, row: 1, run: 1}
	strides := ops.Strides(shape)
	keptLast, foldLast := -1, -1
	for i, n := range shape {
		if n == 1 {
			continue
		}
		dims, by, last := &l.kept, &l.keptBy, &keptLast
		if slices.Contains(axes, i) {
			dims, by, last = &l.folded, &l.foldBy, &foldLast
			l.length *= n
		}
		if k := len(*dims) - 1; k >= 0 && (*by)[k] == strides[i]*n {
			(*dims)[k] *= n
			(*by)[k] = strides[i]
		} else {
			*dims, *by = append(*dims, n), append(*by, strides[i])
		}
		*last = strides[i]
	}
	l.tile = 1
	if keptLast == 1 {
		k := len(l.kept) - 1
		l.row, l.kept, l.keptBy = l.kept[k], l.kept[:k], l.keptBy[:k]
		l.tile = min(max(laneRoom/l.length, 1), maxTile, l.row)
	} else if foldLast == 1 {
		k := len(l.folded) - 1
		l.run, l.folded, l.foldBy = l.folded[k], l.folded[:k], l.foldBy[:k]
	}
	l.groups = ops.Volume(l.kept) * ((l.row + l.tile - 1) / l.tile)
	return l
}

// group returns the offset of group g, its number of lanes, and the index of
// its first lane in a dense result.
func (l *lanes) group(g int) (base, width, lane int) {
	tiles := (l.row + l.tile - 1) / l.tile
	col := g % tiles * l.tile
	g /= tiles
	return col + offset(g, l.kept, l.keptBy), min(l.tile, l.row-col), g*l.row + col
}

// offset converts a row-major index into an offset.
func offset(i int, dims, by []int) int {
	at := 0
	for d := len(dims) - 1; d >= 0; d-- {
		at += i % dims[d] * by[d]
		i /= dims[d]
	}
	return at
}

// at returns the offset of element j of a group's first lane, and the number of
// consecutive elements from there.
func (l *lanes) at(base, j int) (mem, n int) {
	return base + j%l.run + offset(j/l.run, l.folded, l.foldBy), l.run - j%l.run
}

// dense reports whether width lanes are rows without gaps, as where few lanes are side by side.
func (l *lanes) dense(width int) bool {
	return l.row > 1 && width == l.row && len(l.folded) == 1 && l.foldBy[0] == l.row
}

// load fills m with elements [from, to) of a group's lanes, one row per element
// index.
func (l *lanes) load(v *run.Vec, m []float32, base, width, from, to int) {
	if l.dense(width) {
		v.Load(m[:(to-from)*width], base+from*width)
		return
	}
	for j := from; j < to; {
		mem, n := l.at(base, j)
		n = min(n, to-j)
		v.Load(m[(j-from)*width:][:n*width], mem)
		j += n
	}
}

// store writes elements [from, to) of a group's lanes, which load has filled or the
// kernel replaced.
func (l *lanes) store(v *run.Vec, m []float32, base, width, from, to int) {
	if l.dense(width) {
		v.Store(m[:(to-from)*width], base+from*width)
		return
	}
	for j := from; j < to; {
		mem, n := l.at(base, j)
		n = min(n, to-j)
		v.Store(m[(j-from)*width:][:n*width], mem)
		j += n
	}
}

// read loads the lanes of group g into work, one row per element index, and the largest element of each into top. It
// returns the rows, and the offset and number of the lanes.
func (l *lanes) read(v *run.Vec, work []float32, top *[maxTile]float32, g int) (m []float32, base, width int) {
	base, width, _ = l.group(g)
	m = work[:l.length*width]
	l.load(v, m, base, width, 0, l.length)
	copy(top[:], m[:width])
	for row := m; len(row) > 0; row = row[width:] {
		for t, v := range row[:width] {
			top[t] = max(top[t], v)
		}
	}
	return m, base, width
}
