package halves

import (
	"math"
	"slices"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// weighing is what weigh needs for a row, and its sums. Unless the kind is masked, scale and top are divided by ln 2.
type weighing struct {
	scale, minusTop float64
	sums            [4]float64
}

// Kinds of scores for weigh.
const (
	near   = iota // no distance is beyond nearest, no score beyond reachable
	far           // some are infinite, or far enough for a weight of 0
	masked        // with a mask, and any score
)

// nearest is less than the greatest distance that has a normal float32. Up to reachable, a distance that is
// divided by ln 2 errs by less than 2^-41.
const nearest, reachable = -86, 1 << 9

// noMask is a mask of the scores that are weighed at once.
var noMask [1024]float32

// QuickWeights reports whether Weights and Quotients work on this machine.
func QuickWeights() bool { return machine == simd.AVX2 }

// Weights replaces each score of some rows, times scale and plus the mask unless that is empty, by the exponential of
// its distance to the greatest of the row, rounded to float32. Each row has that mask. Its total is that of the
// exponentials, each of which has an error of 2^-39, in any order. Weights returns how many rows it did, before one
// where a score is NaN or the greatest is infinite; it leaves anything in that one. scale is positive.
func Weights(totals []float64, scores, mask []float32, scale float64) (rows int) {
	n := len(scores) / len(totals)
	r := scoreRow{by: scale}
	for i := range totals {
		r.scores, r.mask, r.rest, r.sums = scores[i*n:][:n], nil, 0, [4]float64{}
		for j, m := range mask {
			switch {
			case m == 0:
			case m < -math.MaxFloat32:
				r.scores[j] += m
			default:
				r.mask = mask
			}
		}
		r.reach()
		if math.IsNaN(r.top) || math.IsInf(r.top, 0) {
			return i
		}
		if r.scale, r.minusTop = r.by, -r.top; r.kind != masked {
			r.scale, r.minusTop = r.by*(1/math.Ln2), r.top*(-1/math.Ln2)
		}
		r.weigh()
		totals[i] = r.rest + (r.sums[0] + r.sums[1]) + (r.sums[2] + r.sums[3])
		if math.IsNaN(totals[i]) {
			return i
		}
	}
	return len(totals)
}

// scoreRow is a row for Weights.
type scoreRow struct {
	weighing
	scores, mask []float32
	by           float64 // the scale
	top, rest    float64 // the greatest, and exponentials that are not in the sums
	kind         int
}

// product is a score, scaled and masked.
func (r *scoreRow) product(j int) float64 {
	p := float64(float64(r.scores[j]) * r.by)
	if len(r.mask) > 0 {
		p += float64(r.mask[j])
	}
	return p
}

// reach finds the greatest score, and of which kind the scores are.
func (r *scoreRow) reach() {
	n := len(r.scores)
	if len(r.mask) > 0 {
		least := math.Inf(-1)
		tops := [4]float64{least, least, least, least}
		if n >= 4 {
			topOf(&tops, &r.scores[0], &r.mask[0], n/4, r.by)
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
	for _, f := range r.scores[n/8*8:] {
		if f < ends[0] {
			ends[0] = f
		}
		if f > ends[1] {
			ends[1] = f
		}
	}
	r.top, r.kind = float64(float64(ends[1])*r.by), near
	bottom := float64(float64(ends[0]) * r.by)
	switch {
	case max(r.top, -r.top) > reachable:
		r.kind = masked
	case bottom-r.top < nearest:
		r.kind = far
	}
}

// weigh replaces the scores.
func (r *scoreRow) weigh() {
	n, at := len(r.scores), 0
	for at+block <= n {
		mask, now := &noMask[0], min(n-at, len(noMask))/block
		if len(r.mask) > 0 {
			mask = &r.mask[at]
		}
		left := weigh(r.kind, &r.scores[at], mask, now, &r.weighing)
		if at += (now - left) * block; left > 0 {
			r.exactly(at, block)
			at += block
		}
	}
	if at == n {
		return
	}
	var some, mask [block]float32
	for j := copy(some[:], r.scores[at:]); j < block; j++ {
		some[j] = float32(math.Inf(-1))
	}
	copy(mask[:], r.mask[min(at, len(r.mask)):])
	if n-at <= 2 || weigh(max(r.kind, far), &some[0], &mask[0], 1, &r.weighing) > 0 { // two are not worth a vector
		r.exactly(at, n-at)
		return
	}
	copy(r.scores[at:], some[:])
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
	for at, some := 0, block; at < len(dst); {
		if whole := (len(dst) - at) / block; whole > 0 {
			if n := quickScale(&dst[at], &x[at], whole, &ends); n > 0 {
				at, some = at+n*block, block
			}
		}
		n := min(some, len(dst)-at)
		some = min(2*some, stretch)
		if n > 0 && !surely(dst[at:at+n], x[at:at+n], by, near) {
			return false
		}
		at += n
	}
	return true
}

// stretch is how many elements are computed exactly at once, at most.
const stretch = 64

// surely divides exactly, and reports whether the margin decides each result, and each is finite.
func surely(dst []fp16.Bits, x []float32, by, near float64) bool {
	for _, f := range x {
		if math.Float32bits(f) == 1<<31 {
			return false // Divide has no -0
		}
	}
	var other [stretch]fp16.Bits
	Divide(dst, x, by*(1-near))
	Divide(other[:len(dst)], x, by*(1+near))
	span := NewSpan()
	span.Add(dst)
	return slices.Equal(dst, other[:len(dst)]) && span.low > int(key(sign|infinity)) && span.high < infinity
}
