package packed

import (
	"math"

	"golang.org/x/sys/cpu"
)

const (
	unit   = 128 // columns whose integers are 64 bytes
	lane   = 8   // columns of a lane
	lanes  = unit / lane
	places = 22 // bits of the greatest integers that a vector becomes, besides the sign
	// stored is the float32s of a unit of a vector: three digits of each element, and what each lane is worth.
	stored = (3*unit + 4*lanes) / 4
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

func (w *Weights) blocks() int { return w.Cols / w.Wide }

// fixedBits is the bits of the vectors that the kernels of integers use, of which 512 need AVX-512 VNNI; 0 without.
func fixedBits() int {
	if bits() == 512 && !cpu.X86.HasAVX512VNNI {
		return 256
	}
	return bits()
}

// fixedRoom is the float32s of a vector as integers. First come the digits and units as the kernels read them or,
// without kernels, the integers. The units of the groups follow, then the sums and units of each sixteen blocks.
func (w *Weights) fixedRoom() int { return w.units()*(unit+4) + (w.blocks()+lanes-1)/lanes*2*lanes }

// fixedDots is Dots with integers, for at most batch rows.
func (w *Weights) fixedDots(sums []float32, v *Vector, room []float32, row int) {
	if is, _ := w.allBounded(row, len(sums), room); is {
		w.integers(sums, v, room, row)
		return
	}
	for i := range sums {
		if w.bounded(row+i, 1) {
			w.integers(sums[i:i+1], v, room, row+i)
		} else {
			w.slow(sums[i:i+1], v.x, room, row+i)
		}
	}
}

// integers is fixedDots of rows that are bounded.
func (w *Weights) integers(sums []float32, v *Vector, room []float32, row int) {
	if bits() > 0 {
		w.fixedKernel(sums, v, room, row)
		return
	}
	for i := range sums {
		sums[i] = w.fixedDot(v, row+i)
	}
}

// more is what makes offsets those of integers without a sign.
func (w *Weights) more() float32 {
	if w.Signed {
		return float32(int(1) << (w.Bits - 1))
	}
	return 0
}

// factors returns the scale of a block, and its product with the offset of integers without a sign.
func (w *Weights) factors(block int) (scale, product float32) {
	s, o := w.rescale(block)
	scale = float32(s)
	product = float32(scale * float32(o))
	if w.Signed {
		product += float32(w.more() * scale)
	}
	return scale, product
}

// bounded reports whether no element of some rows may be infinite as a half.
func (w *Weights) bounded(row, rows int) bool {
	for b := range rows * w.blocks() {
		scale, product := w.factors(row*w.blocks() + b)
		if !(math.Abs(float64(product))+float64(int(1)<<w.Bits)*math.Abs(float64(scale)) <= largest) {
			return false
		}
	}
	return true
}

// allBounded is bounded by assembly too. It keeps what it finds out of a batch. It reports whether room has what prepare
// makes of exact blocks with more.
func (w *Weights) allBounded(row, rows int, room []float32) (bounded, prepared bool) {
	found := w.remembered(row, rows)
	if found != nil && found.Load() != uint32(unknown) {
		return found.Load() == uint32(exact), false
	}
	is := wrong
	if n := rows * w.blocks(); bits() > 0 { // does not find all that are bounded
		p := w.parts(room, padded(n), w.more())
		p.sure = 2
		is = w.split(p, room, row*w.blocks(), n, unknown)
	}
	if is != wrong || w.bounded(row, rows) {
		is = exact
	}
	if found != nil {
		found.Store(uint32(is))
	}
	return is == exact, bits() > 0
}

// fixedKernel is fixedDots by assembly.
func (w *Weights) fixedKernel(sums []float32, v *Vector, room []float32, row int) {
	blocks, n := w.blocks(), len(sums)
	d := fixes{digits: &v.digits[0], vector: &v.sums[0], units: w.units(), last: 0xffff,
		each: (w.Wide + unit - 1) / unit, blocks: blocks, line: w.Cols / 2, stride: 4 * blocks}
	if w.Cols%unit != 0 {
		d.last = 0xff
	}
	if w.Signed {
		d.flip = 0x88888888
	}
	stored := fixedBits() == 256 && blocks%8 == 0 && w.OffsetHalf != nil && !w.Signed // as language models have them
	if !stored {
		w.prepare(room, row*blocks, n*blocks, exact, false, w.more())
	}
	once := 1 // rows
	if fixedBits() == 512 {
		once = 4
	}
	for from := 0; from < n; once = 1 {
		d.rows = (n - from) / once * once
		if d.rows > 0 {
			at := room[from*blocks:]
			d.sums, d.data, d.scale = &sums[from], &w.Data[(row+from)*w.Cols/2], &at[0]
			d.product = &at[padded(n*blocks)]
			if stored {
				first := (row + from) * blocks
				d.halves, d.offsets, d.more = &w.Scale[first], &w.OffsetHalf[first], w.more()
			}
			fixedRows(fixedBits(), w.group(), once, &d)
		}
		from = n / once * once
	}
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

// fused is a*b + c, rounded once. The product is exact in float64.
func fused(a, b, c float32) float32 {
	p := float64(a) * float64(b)
	s := p + float64(c)
	back := s - p
	lost := (p - (s - back)) + (float64(c) - back)
	return float32(odd(s, lost))
}
