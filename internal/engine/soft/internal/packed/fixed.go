package packed

import "math"

const (
	unit   = 128 // columns whose integers are 64 bytes
	lane   = 8   // columns of a lane
	lanes  = unit / lane
	places = 22 // bits of the greatest integers that a vector becomes, besides the sign
	// largest bounds elements whose products with a vector are those of integers; halves beyond are infinite.
	largest = 65504
)

// fixed reports whether Dots multiplies integers; see the comment of the package.
func (w *Weights) fixed() bool {
	return !w.ruled() && w.High == 1 && w.Bits == 4 && w.width() == 4 && w.Cols%(unit/2) == 0 &&
		(w.Wide == unit/4 || w.Wide == unit/2 || w.Wide%unit == 0 || w.Wide == w.Cols)
}

// group is the columns of a vector whose integers have one unit.
func (w *Weights) group() int { return min(w.Wide, unit) }

// units is the units of a row; the last may be half of one.
func (w *Weights) units() int { return (w.Cols + unit - 1) / unit }

// blocks is the blocks of a row.
func (w *Weights) blocks() int { return w.Cols / w.Wide }

// fixedRoom is the float32s of a vector as integers: the digits and units as the kernels read them or, without
// kernels, the integers; then the units of the groups, and for each sixteen blocks their sums and units.
func (w *Weights) fixedRoom() int { return w.units()*(unit+4) + (w.blocks()+lanes-1)/lanes*2*lanes }

// fix makes integers of a vector, unless it is steep, or an element is infinite or not a number.
func (w *Weights) fix(v *Vector, room []float32) {
	n := w.units()
	v.digits, v.units, v.sums = room[:n*unit], room[n*unit:][:4*n], room[n*(unit+4):w.fixedRoom()]
	clear(v.sums)
	if !quickFix(w, v) {
		v.finite = w.fixPortable(v)
	}
}

// fixPortable is fix in Go.
func (w *Weights) fixPortable(v *Vector) bool {
	group := w.group()
	for g := 0; g*group < w.Cols; g++ {
		x := v.x[g*group : min((g+1)*group, w.Cols)]
		var most uint32
		for _, f := range x {
			most = max(most, magnitude(f))
		}
		if most >= 0xff<<23 || isSteep(x, most) {
			return false
		}
		one, each := fixedUnit(most)
		total := int32(0)
		for i, f := range x {
			n := float32(math.RoundToEven(float64(f * one)))
			v.digits[g*group+i] = n
			total += int32(n)
		}
		v.units[g] = each
		*v.sum(g * group / w.Wide) += float32(float32(total) * each)
	}
	return true
}

// magnitude is the bits of a number without its sign.
func magnitude(f float32) uint32 { return math.Float32bits(f) &^ (1 << 31) }

// isSteep reports whether, of any 32 columns of a group of a vector, at least half of those that are not 0 are less than
// 2^-12 of the power of two in the greatest. Their integers would have few bits, and a row may be 0 where the vector is
// great.
func isSteep(x []float32, most uint32) bool {
	bound := (max(most>>23, 103) - 12) << 23
	for ; len(x) > 0; x = x[32:] {
		small, all := 0, 0
		for _, f := range x[:32] {
			n := magnitude(f)
			if n != 0 {
				all++
			}
			if n-1 < bound-1 { // not 0
				small++
			}
		}
		if 2*small >= max(all, 1) {
			return true
		}
	}
	return false
}

// fixedUnit returns the unit of integers that stand for numbers up to one with the bits most, and its inverse. It is that
// of 2^-24, the least half, if most is less.
func fixedUnit(most uint32) (inverse, unit float32) {
	e := max(most>>23, 103)
	return math.Float32frombits((127 + 127 + places - 1 - e) << 23), math.Float32frombits((e - places + 1) << 23)
}

// fixedDots is Dots with integers, for at most batch rows.
func (w *Weights) fixedDots(sums []float32, v *Vector, room []float32, row int) {
	if w.allBounded(row, len(sums), room) {
		w.integers(sums, v, room, row)
		return
	}
	for i := range sums {
		if w.bounded(row + i) {
			w.integers(sums[i:i+1], v, room, row+i)
		} else {
			w.slow(sums[i:i+1], v.x, room, row+i)
		}
	}
}

// integers is fixedDots of rows that are bounded.
func (w *Weights) integers(sums []float32, v *Vector, room []float32, row int) {
	if w.quickFixed(sums, v, room, row) {
		return
	}
	for i := range sums {
		sums[i] = w.fixedDot(v, row+i)
	}
}

// factors returns the scale of a block, and its product with the offset of integers without a sign.
func (w *Weights) factors(block int) (scale, product float32) {
	s, o := w.rescale(block)
	scale = float32(s)
	product = float32(scale * float32(o))
	if w.Signed {
		product += float32(8 * scale)
	}
	return scale, product
}

// bounded reports whether no element of a row may be infinite as a half.
func (w *Weights) bounded(row int) bool {
	for b := range w.blocks() {
		if !isBounded(w.factors(row*w.blocks() + b)) {
			return false
		}
	}
	return true
}

// isBounded is bounded for the factors of a block.
func isBounded(scale, product float32) bool {
	return math.Abs(float64(product))+16*math.Abs(float64(scale)) <= largest
}

// allBounded is bounded for some rows. It keeps what it finds out of a batch.
func (w *Weights) allBounded(row, rows int, room []float32) bool {
	found := w.remembered(row, rows)
	if found != nil && found.Load() != uint32(unknown) {
		return found.Load() == uint32(exact)
	}
	is := exact
	if !w.quickBounded(row, rows, room) {
		for i := range rows {
			if !w.bounded(row + i) {
				is = wrong
				break
			}
		}
	}
	if found != nil {
		found.Store(uint32(is))
	}
	return is == exact
}

// fixedDot is one row of fixedDots in Go.
func (w *Weights) fixedDot(v *Vector, row int) float32 {
	var sums [lanes]float32
	flip := byte(0)
	if w.Signed {
		flip = 0x88
	}
	data, group, first := w.Data[row*w.Cols/2:][:w.Cols/2], w.group(), row*w.blocks()
	for b := range w.blocks() {
		_, product := w.factors(first + b)
		sums[b%lanes] -= float32(product * *v.sum(b))
	}
	for at := 0; at < w.Cols; at += lane {
		n := int32(0)
		x := v.digits[at:][:lane]
		for i, b := range data[at/2:][:lane/2] {
			b ^= flip
			n += int32(b&15)*int32(x[2*i]) + int32(b>>4)*int32(x[2*i+1])
		}
		s := w.Scale[first+at/w.Wide].Float32() * v.units[at/group]
		sums[at/lane%lanes] = fused(float32(n), s, sums[at/lane%lanes])
	}
	for n := lanes / 2; n > 0; n /= 2 {
		for i := range n {
			sums[i] += sums[i+n]
		}
	}
	return sums[0]
}

// sum is the sum of the vector's elements in a block.
func (v *Vector) sum(block int) *float32 { return &v.sums[block/lanes*2*lanes+block%lanes] }

// fused is a*b + c, rounded once. The product is exact in float64.
func fused(a, b, c float32) float32 {
	p := float64(a) * float64(b)
	s := p + float64(c)
	// Rounding s to float32 would round twice if the addition has rounded: the result is made odd then.
	back := s - p
	lost := (p - (s - back)) + (float64(c) - back)
	if lost == 0 || lost != lost {
		return float32(s)
	}
	bits := math.Float64bits(s)
	if bits&1 == 0 {
		if (lost > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
	}
	return float32(math.Float64frombits(bits))
}
