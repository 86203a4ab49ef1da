package halves

import (
	"math"
	"slices"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// weighing is what weigh needs for a row, and its sums.
type weighing struct{ scale, minusTop, sums [4]float64 }

func four[T any](v T) [4]T { return [4]T{v, v, v, v} }

// Kinds of scores for weigh.
const (
	near   = iota // no distance is beyond nearest, no score beyond reachable
	far           // some are infinite, or far enough for a weight of 0
	masked        // with a mask, and any score
)

// nearest is less than the greatest distance that has a normal float32. Up to reachable, a score and a distance err by
// less than 2^-41 where only their sum is rounded.
const nearest, reachable = -86, 1 << 11

// noMask are a mask.
var noMask [WeightsRoom]float32

// WeightsRoom is how many scores are weighed before a look at whether their rounding is decided. Up to single of the
// last ones are not worth vectors.
const (
	WeightsRoom = 256
	single      = 2
)

// QuickWeights reports whether Weights and Quotients work on this machine.
func QuickWeights() bool { return machine == simd.AVX2 }

// Weights replaces each score, times scale and plus the mask unless that is empty, by the exponential of its distance
// to the greatest, rounded to float32. The total is that of the exponentials, each of which has an error of 2^-39, in
// any order. It returns false, and leaves anything in scores, if one is NaN or the greatest is infinite. scale is
// positive. room is for WeightsRoom elements.
func Weights(scores, mask, room []float32, scale float64) (total float64, ok bool) {
	r := scoreRow{scores: scores, weights: room[:WeightsRoom], weighing: weighing{scale: four(scale)}}
	for j, m := range mask {
		switch {
		case m == 0:
		case m < -math.MaxFloat32:
			scores[j] += m
		default:
			r.mask = mask
		}
	}
	r.reach()
	if math.IsNaN(r.top) || math.IsInf(r.top, 0) {
		return 0, false
	}
	r.minusTop = four(-r.top)
	whole := len(scores) / block * block
	for at := 0; at < len(scores); {
		n := min(WeightsRoom, whole-at)
		if n == 0 {
			n = len(scores) - at
		}
		r.weigh(at, n)
		at += n
	}
	total = r.rest + (r.sums[0] + r.sums[1]) + (r.sums[2] + r.sums[3])
	return total, !math.IsNaN(total)
}

// scoreRow is a row for Weights.
type scoreRow struct {
	weighing
	scores, mask []float32
	top, rest    float64 // the greatest, and exponentials that are not in the sums
	kind         int
	weights      []float32
}

// product is a score, scaled and masked.
func (r *scoreRow) product(j int) float64 {
	p := float64(float64(r.scores[j]) * r.scale[0])
	if len(r.mask) > 0 {
		p += float64(r.mask[j])
	}
	return p
}

// reach finds the greatest score, and of which kind the scores are.
func (r *scoreRow) reach() {
	n := len(r.scores)
	if r.top = math.Inf(-1); len(r.mask) > 0 {
		tops := four(r.top)
		if n >= 4 {
			topOf(&tops, &r.scores[0], &r.mask[0], n/4, r.scale[0])
		}
		r.top = max(tops[0], tops[1], tops[2], tops[3])
		for j := n / 4 * 4; j < n; j++ {
			r.top = max(r.top, r.product(j))
		}
		r.kind = masked
		return
	}
	ends := [2]float32{float32(math.Inf(1)), float32(math.Inf(-1))}
	if n >= 8 {
		reachOf(&ends, &r.scores[0], n/8)
	}
	low, high := ends[0], ends[1]
	for _, f := range r.scores[n/8*8:] {
		if f < low {
			low = f
		}
		if f > high {
			high = f
		}
	}
	r.top = float64(float64(high) * r.scale[0])
	bottom := float64(float64(low) * r.scale[0])
	switch {
	case max(r.top, -r.top) > reachable:
		r.kind = masked
	case bottom-r.top < nearest:
		r.kind = far
	}
}

// weigh replaces some scores, whole blocks or less than one.
func (r *scoreRow) weigh(at, n int) {
	if n <= single {
		r.exactly(at, n)
		return
	}
	scores, sums, kind := &r.scores[at], r.sums, r.kind
	more := &noMask[0]
	if len(r.mask) > 0 {
		more = &r.mask[at]
	}
	if n < block {
		var some, mask [block]float32
		for j := range some {
			some[j] = float32(math.Inf(-1))
		}
		copy(some[:], r.scores[at:at+n])
		if len(r.mask) > 0 {
			copy(mask[:], r.mask[at:at+n])
		}
		scores, more, kind = &some[0], &mask[0], max(kind, far)
	}
	if weigh(kind, &r.weights[0], scores, more, (n+block-1)/block, &r.weighing) == 0 {
		copy(r.scores[at:at+n], r.weights[:])
		return
	}
	r.sums = sums
	if n > block {
		half := n / 2 / block * block
		r.weigh(at, half)
		r.weigh(at+half, n-half)
		return
	}
	r.exactly(at, n)
}

// exactly is weigh by math.Exp.
func (r *scoreRow) exactly(at, n int) {
	for j := at; j < at+n; j++ {
		e := math.Exp(r.product(j) - r.top)
		r.scores[j], r.rest = float32(e), r.rest+e
	}
}

// Quotients sets dst[i] to x[i] / by, rounded once. by is a total of Weights of some terms. Beside the total of math.Exp
// in order, each term may differ by 2^-39 and by the last bit of math.Exp. Each of its terms-1 additions errs by up to
// 2^-53 of it, and so does each of the terms/4 of Weights and a few more. Quotients returns false unless that decides
// each result, and each is finite.
func Quotients(dst []fp16.Bits, x []float32, by float64, terms int) bool {
	near := 0x1p-38 + float64(terms)*0x1p-52 // of by
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
