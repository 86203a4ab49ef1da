package numerics

import (
	"cmp"
	"math"
	"math/bits"

	"github.com/anekit/anekit/ane/fp16"
)

// The register of the multiply-accumulate units is signed and has 32 bits, in units of 2^-16. MS 8.2.1: weights 1, 16,
// 256 and 4096 overflow at the same sum and resolve the same step.
const (
	Unit  = 0x1p-16 // the least step of a sum
	limit = 1 << 31 // in units: the first magnitude outside of the range
	// leastExponents is the least sum of exponents whose product counts (MS table 8-2).
	leastExponents = -16
	// foursFrom is 4096 in units, the least magnitude that the M1 rounds inside a group of four.
	foursFrom = 4096 << 16
)

// parts returns a half as sign, significand and exponent: its value is significand * 2^(exponent-10). A
// subnormal and zero have the exponent -14; the exponent 31 is an ordinary one (MS 8.2.4).
func parts(b fp16.Bits) (negative bool, significand, exponent int) {
	significand, exponent = int(b&0x3ff), -14
	if e := int(b>>10) & 31; e != 0 {
		significand, exponent = significand|1024, e-15
	}
	return b&signMask != 0, significand, exponent
}

// product multiplies two halves as the register of m4 to m6 takes the product up: in units of 2^-16, half away from
// zero. With ProductDropped it is 0 if the exponents add to -17 or less.
func (r Rules) product(x, w fp16.Bits) int64 {
	nx, mx, ex := parts(x)
	nw, mw, ew := parts(w)
	if r.Has(ProductDropped) && ex+ew < leastExponents {
		return 0
	}
	v := int64(mx * mw)
	if k := ex + ew - 4; k >= 0 {
		v <<= k
	} else if k > -40 {
		v = (v + 1<<(-k-1)) >> -k
	} else {
		v = 0
	}
	if nx != nw {
		return -v
	}
	return v
}

// MAC sums the products of x and w, in their order, and rounds the sum to fp16, as a chip does in a convolution or a
// matrix product. The shorter of x and w decides how many. The rules are ProductRounding and ProductDropped of each
// product, Fours, Range, BiasLast, HalfAway and Exponent31 of each operand.
//
// The sum has 32 bits with ProductRounding and is exact otherwise, unless it reaches the range; without
// Range it is exact to 2^47.
func (r Rules) MAC(x, w []fp16.Bits, bias fp16.Bits) fp16.Bits {
	n := min(len(x), len(w))
	if !r.Has(ProductRounding) {
		return r.macFloat(x[:n], w[:n], bias)
	}
	p := make([]int64, n)
	for i := range p {
		p[i] = r.product(x[i], w[i])
	}
	if !r.Has(BiasLast) {
		start := ProductRounding.product(bias, 0x3c00) // half away from zero (MS 8.2.3)
		return r.Round(r.Accumulate(start, p))
	}
	rounded := r.Round(r.Accumulate(0, p))
	if bias&^signMask == 0 {
		return rounded
	}
	return r.Round(float64(r.Value(rounded)) + float64(r.Value(bias)))
}

// Accumulate adds products in units of 2^-16 to start, in their order, and returns the sum as a number, not rounded to
// fp16. It returns infinity if the sum reached the range and the rules have Range. With Fours the partial sums inside a
// group count too (AG: an interior partial sum overflows even if a later product would bring it back).
func (r Rules) Accumulate(start int64, p []int64) float64 {
	sum := start
	for len(p) > 0 && !r.past(sum) {
		next, taken := p[0], 1
		if r.Has(Fours) {
			for taken < min(4, len(p)) && !r.past(next) {
				next = addTwelve(next, p[taken])
				taken++
			}
			if r.past(next) {
				sum = 0 // the group alone decides
			}
		}
		sum += next
		p = p[taken:]
	}
	if r.past(sum) {
		return math.Inf(cmp.Compare(sum, 0))
	}
	return float64(sum) * Unit
}

// past reports whether a sum in units of 2^-16 has left the range.
func (r Rules) past(sum int64) bool { return r.Has(Range) && (sum >= limit || sum <= -limit) }

// addTwelve adds next to sum as the M1 does inside a group of four. If the larger operand is 4096 or more it rounds,
// half to even, to half a unit in the last place of that in fp16: to 12 significant bits. It reproduces AG's sums,
// which rounding half down fits too: 1 is kept beside 4090 and below, and lost beside 4096 and above.
func addTwelve(sum, next int64) int64 {
	larger := max(sum, -sum, next, -next)
	sum += next
	if n := bits.Len64(uint64(larger)) - 12; larger >= foursFrom {
		sum = (sum + 1<<(n-1) - 1 + sum>>n&1) >> n << n
	}
	return sum
}

// macFloat is MAC without the fixed-point register: fp32 sums in order, as the reference has them.
func (r Rules) macFloat(x, w []fp16.Bits, bias fp16.Bits) fp16.Bits {
	var sum float32
	for i := range x {
		sum += r.Value(x[i]) * r.Value(w[i]) // the product is exact
	}
	sum += r.Value(bias)
	if r.Has(Range) && !(sum < 32768 && sum > -32768) {
		sum = float32(math.Inf(int(math.Copysign(1, float64(sum)))))
	}
	return r.Round(float64(sum))
}

// ScaleInt8 returns a sum of products of int8, as the convolution of quantized values (W8A8) adds them, times the
// product of their scales. The caller rounds it to fp16. The sum is an int32, infinite from a magnitude of 2^31. There
// is no limit at 32768 (MS 8.3, reproduced: 29 of 29; bias, zero point and negative overflow are unmeasured).
func (r Rules) ScaleInt8(sum int64, scale float64) float64 {
	if r.Has(Int8Sums) && (sum >= limit || sum <= -limit) {
		return math.Inf(cmp.Compare(sum, 0))
	}
	return float64(float64(sum) * scale)
}

// SliceInside is an element of a slice that begins inside the last axis. The M1 multiplies it by 16 in between, so that
// 4095 and above become infinite (AG, M1 and M2; exact on the M5, inferred for the others).
func (r Rules) SliceInside(x fp16.Bits) fp16.Bits {
	if r.Has(SliceTimes16) && r.Round(16*float64(Number(x)))&^signMask == fp16.Inf {
		return x&signMask | fp16.Inf
	}
	return x
}
