package halves

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// expConstants are what the exponential needs, in the order in which the assembly reads them. e^d is
// 2^m * 2^(j/16) * e^r with 16m + j = d * 16/ln 2, rounded, and |r| at most ln 2/32, so that six terms of the series
// leave an error of 2^-51.
type expConstants struct {
	roots            [16]float64 // 2^(j/16)
	least            float64     // distances below it count as it
	steps            float64     // 16/ln 2
	shift            float64     // adding it rounds to an integer, in the low bits
	high, low        float64     // -ln 2/16 in two parts
	c6, c5, c4, c3   float64
	half, one, slice float64 // slice is 1/16
}

var exponential = expConstants{
	roots: [16]float64{0x1p+00, 0x1.0b5586cf9890fp+00, 0x1.172b83c7d517bp+00, 0x1.2387a6e756238p+00,
		0x1.306fe0a31b715p+00, 0x1.3dea64c123422p+00, 0x1.4bfdad5362a27p+00, 0x1.5ab07dd485429p+00,
		0x1.6a09e667f3bcdp+00, 0x1.7a11473eb0187p+00, 0x1.8ace5422aa0dbp+00, 0x1.9c49182a3f09p+00,
		0x1.ae89f995ad3adp+00, 0x1.c199bdd85529cp+00, 0x1.d5818dcfba487p+00, 0x1.ea4afa2a490dap+00},
	least: -120, steps: 16 / math.Ln2, shift: 0x1.8p52,
	high: -0x1.62e42fefp-5, low: -0x1.473de6af278edp-38,
	c6: 1.0 / 720, c5: 1.0 / 120, c4: 1.0 / 24, c3: 1.0 / 6, half: 0.5, one: 1, slice: 1.0 / 16,
}

// exp is the exponential of a distance, which is not NaN and at most 0.
func exp(d float64) float64 {
	e := &exponential
	if d < e.least {
		d = e.least
	}
	t := math.FMA(d, e.steps, e.shift)
	k := t - e.shift
	r := math.FMA(k, e.low, math.FMA(k, e.high, d))
	p := math.FMA(r, e.c6, e.c5)
	p = math.FMA(p, r, e.c4)
	p = math.FMA(p, r, e.c3)
	p = math.FMA(p, r, e.half)
	p = math.FMA(p, r, e.one)
	p = math.FMA(p, r, e.one)
	p *= e.roots[math.Float64bits(t)&15]
	return p * math.Float64frombits(uint64(1023+int64(math.Floor(k*e.slice)))<<52)
}

// Exp sets dst[i] to the exponential of the distance of x[i] to top, rounded to float32, and adds the exponentials to
// the sums, before they are rounded. The relative error of one is at most 2^-50; those below e^-120 count as that.
// top is finite, no element of x is NaN or greater. dst has room for a multiple of 16 elements.
func (s *Sums) Exp(dst []float32, x []fp16.Bits, top float64) {
	dst = dst[:(len(x)+block-1)/block*block]
	full := len(x) / block * block
	s.exp(dst[:full], x[:full], top)
	if len(x) > full { // the rest, and distances that are infinite
		var tail [block]fp16.Bits
		for i := range tail {
			tail[i] = sign | infinity
		}
		copy(tail[:], x[full:])
		s.exp(dst[full:], tail[:], top)
	}
}

func (s *Sums) exp(dst []float32, x []fp16.Bits, top float64) {
	for len(x) > 0 && Vectors() {
		n := min(len(x), most/4)
		expVector(&dst[0], &s[0], &x[0], n/block, top, &exponential)
		dst, x = dst[n:], x[n:]
	}
	for i, b := range x {
		e := exp(float64(b.Float32()) - top)
		dst[i] = float32(e)
		s[i%block] += e
	}
}

// margin is more than the relative error of a quotient in float32. Where both ends of the margin round to one half,
// so does the quotient in float64: the assembly computes that only for the other elements.
const margin = 0x1p-21

// Divide sets dst[i] to x[i] / by, rounded once. x has as many elements as dst, and up to a multiple of 16.
// x[i] is not negative, and by at least as great as each and at least 2^-100.
func Divide(dst []fp16.Bits, x []float32, by float64) {
	inverse := 1 / by
	for len(dst) >= block && machine != simd.Portable {
		n := whole(len(dst))
		divideVector(&dst[0], &x[0], n/block, by, inverse, float32(inverse*(1-margin)), float32(inverse*(1+margin)))
		dst, x = dst[n:], x[n:]
	}
	for i := range dst {
		v := float64(x[i])
		q := v * inverse
		dst[i] = fp16.FromFloat64(math.FMA(math.FMA(-q, by, v), inverse, q))
	}
}

// Sigmoids sets each values[i] to 1 / (1 + e^-x) of the half i, or with times to x times that. It calls exactly where
// the margin of float32 does not decide, and for halves that are not finite.
func Sigmoids(values []fp16.Bits, times bool, exactly func(fp16.Bits) fp16.Bits) {
	const some = 1 << 10 // of one exponent
	var high [some]fp16.Bits
	var q, above [some]float32
	for from := 0; from < len(values); from += some {
		low, finite := values[from:][:some], from&infinity != infinity
		for i := range low {
			low[i] = fp16.Bits(from+i) | sign
		}
		if finite {
			new(Sums).Exp(q[:], low, 0)
		}
		for i, e := range q {
			y := 1 / (1 + e)
			if from >= sign {
				y *= e
			}
			if times {
				y *= fp16.Bits(from + i).Float32()
			}
			q[i], above[i] = y*(1-margin), y*(1+margin)
		}
		fp16.Encode(low, q[:])
		fp16.Encode(high[:], above[:])
		for i, h := range high {
			if !finite || low[i] != h {
				low[i] = exactly(fp16.Bits(from + i))
			}
		}
	}
}
