package packed

import "math"

// wordsOf are the integers of a vector, the unit of each group, and the sum of each block.
func wordsOf(w *Weights, x []float32) (n []int, units, means []float32) {
	group := min(w.Wide&-w.Wide, 128)
	n, means = make([]int, len(x)), make([]float32, w.Cols/w.Wide)
	for from := 0; from < w.Cols; from += group {
		most, total := 0x1p-24, 0
		for _, f := range x[from:][:group] {
			most = max(most, math.Abs(float64(f)))
		}
		_, exponent := math.Frexp(most)
		one := math.Ldexp(1, exponent-15)
		for k := from; k < from+group; k++ {
			n[k] = int(math.RoundToEven(float64(x[k]) / one))
			total += n[k]
		}
		units = append(units, float32(one))
		means[from/w.Wide] += float32(float32(total) * float32(one))
	}
	return n, units, means
}

// tileReference is the product of a vector with a row as the comment of the package defines it.
func tileReference(w *Weights, x []float32, row int, lanes bool) (sum float32) {
	add := func(x []float32) (n []int, units []float32) {
		n, units, means := wordsOf(w, x)
		if lanes {
			sum += laneProduct(w, n, units, means, row)
		} else {
			sum = tileProduct(w, n, units, means, row, sum)
		}
		return n, units
	}
	n, units := add(x)
	group := w.Cols / len(units)
	if steep(x, group, 8) {
		rest := make([]float32, len(x))
		for k, f := range x {
			rest[k] = float32(float64(f) - float64(n[k])*float64(units[k/group]))
		}
		add(rest)
	}
	return sum
}

// blockOf has the scale of a block, and its product with the offset plus a multiple of the scale.
func (w *Weights) blockOf(row, block int, more float32) (scale, product float32) {
	s, o := w.rescale(row*w.blocks() + block)
	scale = float32(s)
	return scale, float32(scale*float32(o)) + float32(more*scale)
}

// tileProduct adds the product to a sum.
func tileProduct(w *Weights, n []int, units, means []float32, row int, sum float32) float32 {
	group, more := w.Cols/len(units), 0
	if w.Signed {
		more = 1 << (w.Bits - 1)
	}
	for b, mean := range means {
		scale, product := w.blockOf(row, b, float32(more))
		for from := b * w.Wide; from < (b+1)*w.Wide; from += group {
			s := 0
			for k := from; k < from+group; k++ {
				s += (int(w.number(w.integer(row*w.Cols+k))) + more) * n[k]
			}
			sum = fused(float32(s), float32(scale*units[from/group]), sum)
		}
		sum = fused(-product, mean, sum)
	}
	return sum
}

// laneProduct is the product of a single vector with a row of bytes.
func laneProduct(w *Weights, n []int, units, means []float32, row int) float32 {
	var lanes [8]float32
	group, offsets := w.Cols/len(units), float32(0)
	for b, mean := range means {
		scale, product := w.blockOf(row, b, 0)
		for from := b * w.Wide; from < (b+1)*w.Wide; from += group {
			var s [8]int
			for k := from; k < from+group; k++ {
				s[k%16/2] += int(w.number(w.integer(row*w.Cols+k))) * n[k]
			}
			for i := range lanes {
				lanes[i] = fused(float32(s[i]), float32(scale*units[from/group]), lanes[i])
			}
		}
		offsets = fused(-product, mean, offsets)
	}
	for _, n := range []int{4, 2, 1} {
		for i := range n {
			lanes[i] += lanes[i+n]
		}
	}
	return lanes[0] + offsets
}
