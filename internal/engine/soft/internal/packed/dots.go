package packed

import (
	"sync/atomic"

	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// Lanes is the number of sums of a row.
const Lanes = 64

// batch is the rows whose scales and offsets are prepared at a time.
const batch = 16

// Fits reports whether Dots takes w: blocks lie along the rows of a matrix of plain halves.
func (w *Weights) Fits() bool { return !w.ruled() && w.High == 1 }

// Room is the float32s of memory that Dots needs for some rows: their elements, or what prepare makes of scales and
// offsets.
func (w *Weights) Room(rows int) int {
	if w.multiplied() == 0 && !w.fixed() {
		return w.Cols
	}
	return max(w.Cols, 5*padded(min(rows, batch)*w.blocks()))
}

// Remember lets Dots keep what it finds out about scales and offsets, which must not change any more.
func (w *Weights) Remember() { w.found = make([]atomic.Uint32, (w.Rows+batch-1)/batch) }

// exactness is what Dots finds out about the blocks of some rows.
type exactness uint32

const (
	unknown exactness = iota
	exact             // all elements are exact in float32 before they are rounded; or all rows are bounded
	inexact
	wrong // the kernels cannot take them; or some rows are not bounded
)

// remembered returns where Dots keeps what it finds out about some rows, or nil if these are no batch of their own.
func (w *Weights) remembered(row, rows int) *atomic.Uint32 {
	if w.found == nil || row%batch != 0 || rows != batch && row+rows != w.Rows {
		return nil
	}
	return &w.found[row/batch]
}

// Vector is a vector as Dots reads it, in memory that Arrange was given.
type Vector struct {
	x []float32

	finite bool // the fields below have x as integers
	digits []float32
	units  []float32
	sums   []float32
}

// VectorRoom is the float32s of memory that Arrange needs.
func (w *Weights) VectorRoom() int {
	if w.fixed() {
		return w.fixedRoom()
	}
	return 0
}

// Arrange returns a vector as Dots reads it, in room. Elements of x are halves; neither may change while it is used.
func (w *Weights) Arrange(x, room []float32) Vector {
	v := Vector{x: x}
	if w.fixed() {
		w.fix(&v, room)
	}
	return v
}

// Dots sets sums to the products of as many rows from row on with v.
func (w *Weights) Dots(sums []float32, v *Vector, room []float32, row int) {
	for len(sums) > 0 {
		n := min(len(sums), batch)
		switch {
		case v.finite:
			w.fixedDots(sums[:n], v, room, row)
		case !w.quick(sums[:n], v.x, room, row):
			w.slow(sums[:n], v.x, room, row)
		}
		sums, row = sums[n:], row+n
	}
}

// slow is Dots of products of elements in Go.
func (w *Weights) slow(sums, x, room []float32, row int) {
	values := room[:w.Cols]
	for i := range sums {
		w.Floats(values, row+i, 0)
		var lanes [Lanes]float32
		dot(&lanes, values, x)
		sums[i] = total(&lanes)
	}
}

// dot adds the products of a and b to lanes.
func dot(lanes *[Lanes]float32, a, b []float32) {
	if whole := len(a) / Lanes; whole > 0 && machine != simd.Portable {
		_ = b[whole*Lanes-1]
		dotFloats(bits(), lanes, &a[0], &b[0], whole)
		a, b = a[whole*Lanes:], b[whole*Lanes:]
	}
	dotPortable(lanes, a, b)
}

// dotPortable is dot in Go.
func dotPortable(lanes *[Lanes]float32, a, b []float32) {
	for len(a) > 0 {
		n := min(len(a), Lanes)
		for i, f := range a[:n] {
			lanes[i] += float32(f * b[i])
		}
		a, b = a[n:], b[n:]
	}
}

// total adds neighbouring sums, then neighbouring results, up to one.
func total(lanes *[Lanes]float32) float32 {
	for n := Lanes / 2; n > 0; n /= 2 {
		for i := range n {
			lanes[i] = lanes[2*i] + lanes[2*i+1]
		}
	}
	return lanes[0]
}
