package halves

import (
	"math"
	"slices"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// weightConstants are what weighVector needs, in the order in which the assembly reads them. e^d is
// 2^m * 2^(j/8) * e^r with 8m + j = d * 8/ln 2, rounded: seven terms of the series leave an error of 2^-43. The roots
// 2^(j/8), in halves of their bits, lack j << 49, so that adding 8m + j, shifted by 49, multiplies them by 2^m.
type weightConstants struct {
	low, high                 [8]uint32
	rest                      [4]float64 // what ln 2/8 has more than away
	c6, c5, c4, c3, half, one [4]float64
	before, within            [4]uint64  // of the margin of the middle, in the bits that float32 drops
	normal                    [4]float64 // distances below it have no normal float32
	shift                     [4]float64 // adding it rounds to an integer, in the low bits
	steps, away               [4]float64 // 8/ln 2 and ln 2/8
	least, zero               [4]float64 // distances below least count as it, those below zero have the float32 0
}

func four[T any](v T) [4]T { return [4]T{v, v, v, v} }

// dropped is the margin of the middle between two float32s, in the last bits of a float64: 2^-43 of any.
const dropped = 1 << 10

var weighing = weightConstants{
	low: [8]uint32{0, 0x3c7d517b, 0xa31b715, 0xd5362a27, 0x667f3bcd, 0x422aa0db, 0x995ad3ad, 0xdcfba487},
	high: [8]uint32{0x3ff00000, 0x3fef72b8, 0x3fef06fe, 0x3feebfda, 0x3feea09e, 0x3feeace5, 0x3feee89f,
		0x3fef5818},
	rest: four(0x1.473de6af278edp-37), c6: four(1.0 / 720), c5: four(1.0 / 120), c4: four(1.0 / 24),
	c3: four(1.0 / 6), half: four(0.5), one: four(1.0), before: four(uint64(1<<29-1<<28+dropped) << 35),
	within: four(uint64(2*dropped+1) << 3), normal: four(-86.0), shift: four(0x1.8p52), steps: four(8 / math.Ln2),
	away: four(0x1.62e42fefp-4), least: four(-110.0), zero: four(-105.0),
}

// QuickWeights reports whether Weights and Quotients work on this machine.
func QuickWeights() bool { return machine == simd.AVX2 }

// Weights replaces each score, times scale and plus the mask unless that is empty, by the exponential of its distance to
// the greatest, rounded to float32. The total is that of the exponentials, each of which has an error of 2^-43, by four
// sums. It returns false, and
// leaves anything in scores, if it cannot tell how one rounds, or one is NaN or infinite. scale is not negative.
func Weights(scores, mask []float32, scale float64) (total float64, ok bool) {
	fours := len(scores) / 4 * 4
	tops, sums := four(math.Inf(-1)), [4]float64{}
	for at, n := 0, 0; at < fours; at += n {
		n = min(fours-at, most/4)
		if topVector(&scores[at], part(mask, at), n/4, scale, &tops) != 0 {
			return 0, false
		}
	}
	product := func(j int) float64 {
		p := float64(float64(scores[j]) * scale)
		if len(mask) > 0 {
			p += float64(mask[j])
		}
		return p
	}
	top := max(tops[0], tops[1], tops[2], tops[3])
	for j := fours; j < len(scores); j++ {
		top = max(top, product(j))
	}
	if math.IsNaN(top) || math.IsInf(top, 0) {
		return 0, false
	}
	for j := fours; j < len(scores); j++ {
		e := math.Exp(product(j) - top)
		scores[j], total = float32(e), total+e
	}
	for at, n := 0, 0; at < fours; at += n {
		n = min(fours-at, most/4)
		if weighVector(&scores[at], part(mask, at), n/4, scale, top, &sums, &weighing) != 0 {
			return 0, false
		}
	}
	return total + (sums[0] + sums[1]) + (sums[2] + sums[3]), true
}

// part is where a list goes on, or nil.
func part(list []float32, at int) *float32 {
	if len(list) == 0 {
		return nil
	}
	return &list[at]
}

// Quotients sets dst[i] to x[i] / by, rounded once. by is a total of Weights of some terms. Beside the total of math.Exp
// in order, each term may differ by 2^-43 and by the last bit of math.Exp. Each of its terms-1 additions errs by up to
// 2^-53 of it, and so does each of the terms/4 of Weights and a few more. Quotients returns false unless that decides
// each result, and each is finite.
func Quotients(dst []fp16.Bits, x []float32, by float64, terms int) bool {
	near := 0x1p-42 + float64(terms)*0x1p-52 // of by
	far := 1.1*0x1p-23 + near                // with the rounding of an inverse and a product in float32
	ends := [2]float32{float32(1 / by * (1 - far)), float32(1 / by * (1 + far))}
	exactly := func(to []fp16.Bits, x []float32) bool {
		var other [stretch]fp16.Bits
		for _, f := range x {
			if math.Float32bits(f) == 1<<31 {
				return false // Divide has no -0
			}
		}
		Divide(to, x, by*(1-near))
		Divide(other[:len(to)], x, by*(1+near))
		return slices.Equal(to, other[:len(to)])
	}
	whole := len(dst) / block * block
	if !scaled(dst[:whole], x, &ends, func(at, n int) bool { return exactly(dst[at:at+n], x[at:at+n]) }) ||
		!exactly(dst[whole:], x[whole:]) {
		return false
	}
	span := NewSpan()
	span.Add(dst)
	low, high := span.Ends()
	return !low.IsNaN() && !low.IsInf() && !high.IsInf()
}
