package models_test

import "math"

// chip imitates how a generation of the Neural Engine computes, as far as it has
// been measured. Values are the numbers that fp16 holds. The engine reads the
// largest exponent like any other, so infinity is the number 65536 here, and
// nothing is NaN.
type chip struct {
	name   string
	even   bool // results are rounded half to even; without it half away from zero
	fours  bool // products are summed in fours first, each sum rounded to 12 bits
	shifts bool // a slice behind column 0 passes through 16 times its value

	exp2, reciprocal, root, reciprocalRoot curve

	recipe
	order func(n int) []int // in which order n products are summed; nil is as they come
}

// recipe tells how an operator is put together from others where no measurement
// tells.
type recipe struct {
	divide  bool // softmax divides; without it, it multiplies by a reciprocal
	macSums bool // sums of softmax and layer_norm run as products with 1
	squares bool // the variance is the mean square less the square of the mean
}

// infinity is what fp16 has in place of numbers that are too large.
const infinity = 65536

// chips are the generations that differ in what the models compute. H14 is like
// m1; H16 and H17 are like m6.
func chips() []chip {
	return []chip{chip{name: "m1", even: true, fours: true, shifts: true}.sampled(), chip{name: "m6"}.sampled()}
}

// recipes are all ways to put composed operators together: none looks at both
// divide and squares.
func recipes() []recipe {
	return []recipe{{}, {divide: true, squares: true}, {macSums: true}, {divide: true, squares: true, macSums: true}}
}

// half rounds to fp16.
func (c chip) half(v float64) float64 { return round(v, 10, c.even) }

// away rounds to fp16 as reductions do on every chip.
func away(v float64) float64 { return round(v, 10, false) }

// round keeps bits bits after the first, at least those that fp16 has below its
// smallest normal number. Numbers beyond fp16 become infinity, -0 becomes 0.
func round(v float64, bits int, even bool) float64 {
	if v == 0 {
		return 0
	}
	unit := math.Ldexp(1, exponent(v)-bits)
	if q := v / unit; even {
		v = unit * math.RoundToEven(q)
	} else {
		v = unit * math.Round(q)
	}
	if math.Abs(v) >= infinity {
		return math.Copysign(infinity, v)
	}
	return v + 0 // -0 + 0 is 0
}

// exponent is that of v as fp16 writes it: at least -14.
func exponent(v float64) int {
	if v == 0 {
		return -14
	}
	return max(math.Ilogb(v), -14)
}
