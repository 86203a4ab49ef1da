package soft

import (
	"slices"

	"github.com/anekit/anekit/ane/mil/ops"
)

// lanes splits a dense tensor into lanes: for each position along the kept axes
// one lane over the folded axes. Up to tile neighbouring lanes are worked on
// together, as a matrix with one lane a column, so that memory is read in runs.
type lanes struct {
	length int   // elements of a lane
	groups int   // groups of tile lanes, the last of each row perhaps narrower
	row    int   // lanes side by side in memory; 1 when lanes themselves are runs
	run    int   // elements of a lane that follow each other in memory
	kept   []int // lengths of the kept axes but the last, when row > 1
	keptBy []int // their strides in elements
	folded []int // lengths of the folded axes but the last, when run > 1
	foldBy []int
	tile   int
}

// maxTile bounds the lanes worked on together, so that sums fit on the stack.
const maxTile = 64

// laneRoom bounds the float32s of a group: 1 MiB, unless a single lane is
// longer.
const laneRoom = 1 << 18

// newLanes plans the lanes of a tensor folded along axes.
func newLanes(shape, axes []int) lanes {
	l := lanes{length: 1, row: 1, run: 1}
	strides := dense(shape)
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

// group returns where group g starts, how many lanes it has and the number of
// its first lane, counted in the order of a dense result.
func (l *lanes) group(g int) (base, width, lane int) {
	tiles := (l.row + l.tile - 1) / l.tile
	col := g % tiles * l.tile
	g /= tiles
	return col + offset(g, l.kept, l.keptBy), min(l.tile, l.row-col), g*l.row + col
}

// offset turns a number in row-major order into an offset.
func offset(i int, dims, by []int) int {
	at := 0
	for d := len(dims) - 1; d >= 0; d-- {
		at += i % dims[d] * by[d]
		i /= dims[d]
	}
	return at
}

// at returns where element j of a group's first lane lies, and how many
// elements follow it there, itself included.
func (l *lanes) at(base, j int) (mem, n int) {
	return base + j%l.run + offset(j/l.run, l.folded, l.foldBy), l.run - j%l.run
}

// load fills m with elements from to to of a group's lanes, a row for each.
func (l *lanes) load(v *vec, m []float32, base, width, from, to int) {
	for j := from; j < to; {
		mem, n := l.at(base, j)
		n = min(n, to-j)
		v.load(m[(j-from)*width:][:n*width], mem)
		j += n
	}
}

// store writes whole lanes back.
func (l *lanes) store(v *vec, m []float32, base, width int) {
	for j := 0; j < l.length; {
		mem, n := l.at(base, j)
		v.store(m[j*width:][:n*width], mem)
		j += n
	}
}
