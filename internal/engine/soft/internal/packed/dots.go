package packed

import "sync/atomic"

// Lanes is the number of sums of a row.
const Lanes = 64

// batch is the rows whose scales and offsets are prepared at a time.
const batch = 16

// Fits reports whether Dots takes w: blocks lie along the rows of a matrix of plain halves.
func (w *Weights) Fits() bool { return !w.ruled() && w.High == 1 }

// Room is the float32s of memory that Dots needs for some rows.
func (w *Weights) Room(rows int) int { return max(2*w.Cols, w.room(rows)) }

// Remember lets Dots keep what it finds out about scales and offsets, which must not change any more.
func (w *Weights) Remember() { w.found = make([]atomic.Uint32, (w.Rows+batch-1)/batch) }

// Arrange brings a vector into the order in which Dots reads it.
func (w *Weights) Arrange(x []float32) { w.arrange(x) }

// Dots sets sums to the products of as many rows from row on with x, which Arrange has arranged. Elements of x are
// halves.
func (w *Weights) Dots(sums, x, room []float32, row int) {
	for len(sums) > 0 {
		n := min(len(sums), batch)
		if !w.quick(sums[:n], x, room, row) {
			w.slow(sums[:n], x, room, row)
		}
		sums, row = sums[n:], row+n
	}
}

// slow is Dots in Go.
func (w *Weights) slow(sums, x, room []float32, row int) {
	natural, values := room[:w.Cols], room[w.Cols:][:w.Cols]
	w.restore(natural, x)
	for i := range sums {
		w.Floats(values, row+i, 0)
		var lanes [Lanes]float32
		dot(&lanes, values, natural)
		sums[i] = total(&lanes)
	}
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
