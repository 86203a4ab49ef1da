package halves

import (
	"math"
	"math/bits"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

type eight [8]float32

// half is a number of 16 bits, for the assembly.
type half = fp16.Bits

// Constants of softmaxRows. The total errs by less than ofTotal of itself, and is greater by rooted and e^power.
const (
	ofTotal = 1.1 * 0x1p-27
	rooted  = 0x1.1f7036p0
)

// softmaxing is what softmaxRows needs and tells.
type softmaxing struct {
	dst, x, copied *fp16.Bits // of a row, and a copy of it
	e, k           *float32   // its exponentials, and room
	n, stride      int        // elements of a row, at least a block; bytes from one row to the next
	at             int        // where a row goes on, or 0 where it begins
	least          eight      // is for what is less
	shift          float32    // puts 4m + j, less 4*power, into the low bits
	ends           [2]float32 // of the margin of the total's inverse
	power, total   float64    // 2^power is about e^top, and exponentials are divided by it
	top            float32
	unsure         uint32 // two bits for each element at at that the margin does not decide
	low            [block]uint16
}

// kept is the most elements whose powers are kept beside their exponentials.
const kept = 512

// Softmax sets some rows of dst, n elements each, to the exponentials of the distances of the elements of x to the
// greatest one of their row, rounded to float32, divided by the total of these before they are rounded: the result
// rounds once. It returns how many rows it did: the next one has NaN or its greatest element is infinite, or this
// machine has no kernel. Rows are stride elements apart. dst may be x. room has twice as many elements as n up to a
// multiple of 16, copied 16 more than the greater of n and 16.
func Softmax(dst, x []fp16.Bits, rows, n, stride int, room []float32, copied []fp16.Bits) (done int) {
	switch {
	case machine != simd.AVX2 || n > most:
		return 0
	case n < block:
		return shortSoftmax(dst, x, rows, n, stride, room, copied)
	}
	whole := (n + block - 1) / block * block
	_, _, _, _ = dst[(rows-1)*stride+n-1], x[(rows-1)*stride+n-1], room[whole+min(whole, kept)-1], copied[n+block-1]
	s := softmaxing{copied: &copied[0], e: &room[0], k: &room[whole], n: n, stride: 2 * stride}
	for done < rows {
		s.dst, s.x, s.unsure = &dst[done*stride], &x[done*stride], 0
		some := min(rows-done, max(most/n, 1))
		left := softmaxRows(&s, some)
		if done += some - left; left == 0 {
			s.at = 0
			continue
		}
		if s.unsure == 0 {
			break
		}
		if last := n - block; s.settle(dst[done*stride:][:n], copied, room) && s.at < last {
			s.at = min(s.at+block, last)
			continue
		}
		done, s.at = done+1, 0
	}
	return done
}

// shortSoftmax is Softmax for rows of less than a block: they are copied into whole blocks.
func shortSoftmax(dst, x []fp16.Bits, rows, n, stride int, room []float32, copied []fp16.Bits) (done int) {
	var some [block * block]fp16.Bits
	for done < rows {
		for i := range some {
			some[i] = sign | infinity
		}
		now := min(block, rows-done)
		for i := range now {
			copy(some[i*block:][:n], x[(done+i)*stride:])
		}
		did := Softmax(some[:], some[:], now, block, block, room, copied)
		for i := range did {
			copy(dst[(done+i)*stride:][:n], some[i*block:])
		}
		if done += did; did < now {
			break
		}
	}
	return done
}

// few is how many elements of a block are settled one by one.
const few = 4

// exactly is the total of the exponentials of distances.
func (s *softmaxing) exactly() float64 {
	return s.total / rooted * math.Exp(s.power*math.Ln2-float64(s.top))
}

// settle computes the elements that are unsure, and reports whether the row goes on: with more of them than few, or if
// the error of the total matters, it computes the whole row in float64. e has room for that.
func (s *softmaxing) settle(row, copied []fp16.Bits, e []float32) (more bool) {
	top, by := float64(s.top), s.exactly()
	for i, b := range s.low {
		row[s.at+i] = half(b)
	}
	sure := bits.OnesCount32(s.unsure) <= 2*few
	for unsure := s.unsure; sure && unsure != 0; unsure &= unsure - 1 {
		i := s.at + bits.TrailingZeros32(unsure)/2
		unsure &= unsure - 1
		var ends [2]fp16.Bits
		v := []float32{float32(exp(float64(copied[i].Float32()) - top))}
		Divide(ends[:1], v, by*(1+ofTotal))
		Divide(ends[1:], v, by*(1-ofTotal))
		row[i], sure = ends[0], ends[0] == ends[1]
	}
	if !sure {
		var sums Sums
		sums.Exp(e, copied[:len(row)], top)
		Divide(row, e, sums.Total())
	}
	return sure
}

// scaled sets whole blocks of dst to the elements of x times both ends, where these round to one half. For the n
// elements from at on, which include others, it calls exactly, and returns false if that does.
func scaled(dst []fp16.Bits, x []float32, ends *[2]float32, exactly func(at, n int) bool) bool {
	for at, some := 0, block; at < len(dst); {
		n := quickScale(&dst[at], &x[at], (len(dst)-at)/block, ends) * block
		if n > 0 {
			some = block
		}
		if at += n; at < len(dst) {
			n, some = min(some, len(dst)-at), min(2*some, stretch)
			if !exactly(at, n) {
				return false
			}
			at += n
		}
	}
	return true
}

// stretch is how many elements are computed exactly at once, at most.
const stretch = 64
