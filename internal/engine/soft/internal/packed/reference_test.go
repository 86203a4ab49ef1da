package packed

import (
	"math"
	"math/big"

	"github.com/anekit/anekit/ane/fp16"
)

// value is an element by the definition.
func (w *Weights) value(row, col int) fp16.Bits {
	i := row*w.Cols + col
	n := 0
	for b := range w.Bits {
		at := i*w.width() + b
		n |= int(w.Data[at/8]) >> (at % 8) & 1 << b
	}
	if w.Signed && n >= 1<<(w.Bits-1) {
		n -= 1 << w.Bits
	}
	block := row/w.High*(w.Cols/w.Wide) + col/w.Wide
	o := 0.0
	switch {
	case w.OffsetHalf != nil:
		o = float64(w.OffsetHalf[block].Float32())
	case w.OffsetSingle != nil:
		o = float64(w.OffsetSingle[block])
	case w.OffsetByte != nil && w.Signed:
		o = float64(int8(w.OffsetByte[block]))
	case w.OffsetByte != nil:
		o = float64(w.OffsetByte[block])
	}
	scale := float64(w.Scale[block].Float32())
	if finite := scale - scale + o - o; finite != 0 {
		return fp16.FromFloat64(scale * (float64(n) - o))
	}
	exact := big.NewFloat(o).SetPrec(600)
	exact.Mul(big.NewFloat(scale), exact.Sub(big.NewFloat(float64(n)).SetPrec(600), exact))
	return half(exact)
}

// half rounds an exact number once.
func half(exact *big.Float) fp16.Bits {
	near, accuracy := exact.Float64()
	if bits := math.Float64bits(near); accuracy != big.Exact && bits&1 == 0 && !math.IsInf(near, 0) {
		if (accuracy == big.Below) == (near > 0) { // near is odd: rounding it again rounds the exact number
			near = math.Float64frombits(bits + 1)
		} else {
			near = math.Float64frombits(bits - 1)
		}
	}
	return fp16.FromFloat64(near)
}

// reference is the sum of a row as the comment of the package defines it.
func reference(w *Weights, x []float32, row int) float32 {
	if w.Bits == 4 && w.Width == 0 && w.High == 1 && w.Cols%64 == 0 &&
		(w.Wide == 32 || w.Wide == 64 || w.Wide%128 == 0 || w.Wide == w.Cols) {
		if sum, ok := integers(w, x, row); ok {
			return sum
		}
	}
	return inOrder(w, x, row)
}

// inOrder is the sum of products of elements.
func inOrder(w *Weights, x []float32, row int) float32 {
	sums := make([]float32, Lanes)
	for k := range w.Cols {
		sums[k%Lanes] += float32(w.value(row, k).Float32() * x[k])
	}
	for len(sums) > 1 {
		var next []float32
		for i := 0; i < len(sums); i += 2 {
			next = append(next, sums[i]+sums[i+1])
		}
		sums = next
	}
	return sums[0]
}

// integers is the sum of products of integers, and false if an element may be beyond the halves or x is not finite.
func integers(w *Weights, x []float32, row int) (float32, bool) {
	blocks := w.Cols / w.Wide
	greater := 0 // what makes integers unsigned
	if w.Signed {
		greater = 8
	}
	type factor struct{ scale, product, sum float32 }
	factors := make([]factor, blocks)
	for b := range factors {
		f := &factors[b]
		f.scale = w.Scale[row*blocks+b].Float32()
		o := float32(0)
		switch {
		case w.OffsetHalf != nil:
			o = w.OffsetHalf[row*blocks+b].Float32()
		case w.OffsetSingle != nil:
			o = w.OffsetSingle[row*blocks+b]
		case w.OffsetByte != nil && w.Signed:
			o = float32(int8(w.OffsetByte[row*blocks+b]))
		case w.OffsetByte != nil:
			o = float32(w.OffsetByte[row*blocks+b])
		}
		f.product = float32(f.scale*o) + float32(float32(greater)*f.scale)
		if !(math.Abs(float64(f.product))+16*math.Abs(float64(f.scale)) <= 65504) {
			return 0, false
		}
	}
	var lanes [16]float32
	var products [][2]float32 // of each eight columns
	group := min(w.Wide, 128)
	if steep(x, group, 12) {
		return 0, false
	}
	for from := 0; from < w.Cols; from += group {
		part := x[from:min(from+group, w.Cols)]
		most := 0.0
		for _, f := range part {
			if f != f || math.IsInf(float64(f), 0) {
				return 0, false
			}
			most = max(most, math.Abs(float64(f)))
		}
		exponent := -24
		if most >= 0x1p-24 {
			_, exponent = math.Frexp(most)
			exponent--
		}
		one := math.Ldexp(1, exponent-21)
		total := 0
		for k := 0; k < len(part); k += 8 {
			n := 0
			for i, f := range part[k:][:8] {
				whole := int(math.RoundToEven(float64(f) / one))
				at := row*w.Cols + from + k + i
				stored := int(w.Data[at/2]>>(at%2*4)) & 15
				if w.Signed {
					stored = (stored ^ 8) - 8
				}
				n += (stored + greater) * whole
				total += whole
			}
			scale := float32(factors[from/w.Wide].scale * float32(one))
			products = append(products, [2]float32{float32(n), scale})
		}
		factors[from/w.Wide].sum += float32(float32(total) * float32(one))
	}
	for b, f := range factors {
		lanes[b%16] -= float32(f.product * f.sum)
	}
	for i, p := range products {
		exact := new(big.Float).SetPrec(600).Mul(big.NewFloat(float64(p[0])), big.NewFloat(float64(p[1])))
		lanes[i%16], _ = exact.Add(exact, big.NewFloat(float64(lanes[i%16]))).Float32()
	}
	for _, n := range []int{8, 4, 2, 1} {
		for i := range n {
			lanes[i] += lanes[i+n]
		}
	}
	return lanes[0], true
}

// steep reports whether, of any 32 columns, at least half of those that are not 0 are less than a negative power of two
// times that in the greatest of their group.
func steep(x []float32, group, power int) bool {
	for from := 0; from < len(x); from += 32 {
		start := from / group * group
		most, small, all := 0.0, 0, 0
		for _, f := range x[start:min(start+group, len(x))] {
			most = math.Max(most, math.Abs(float64(f)))
		}
		_, exponent := math.Frexp(most)
		for _, f := range x[from : from+32] {
			if f != 0 {
				all++
			}
			if f != 0 && math.Abs(float64(f)) < math.Ldexp(1, exponent-1-power) {
				small++
			}
		}
		if small > 0 && 2*small >= all {
			return true
		}
	}
	return false
}
