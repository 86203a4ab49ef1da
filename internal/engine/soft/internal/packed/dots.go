package packed

// Lanes is the number of sums of a row.
const Lanes = 64

// Fits reports whether Dots takes w: blocks lie along the rows of a matrix that fp16 arithmetic of no chip reads.
func (w *Weights) Fits() bool { return w.Encode == nil && w.Decode == nil && w.High == 1 }

// Room is the float32s of memory that Dots needs.
func (w *Weights) Room() int { return w.Cols }

// Dots sets sums to the products of as many rows from row on with x, which Arrange has arranged.
func (w *Weights) Dots(sums, x, room []float32, row int) {
	for i := range sums {
		values := room[:w.Cols]
		w.Floats(values, row+i, 0)
		var lanes [Lanes]float32
		dot(&lanes, values, x)
		sums[i] = total(&lanes)
	}
}

// Arrange brings a vector into the order in which Dots reads it.
func (w *Weights) Arrange(x []float32) {}

// dot adds the products of a and b to lanes.
func dot(lanes *[Lanes]float32, a, b []float32) {
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
