package models_test

import "math"

// chip simulates the arithmetic of a generation of the Neural Engine, as far as it is
// measured. Values are fp16 numbers. The engine reads the largest exponent like any
// other, so infinity is the number 65536 here, and there is no NaN.
type chip struct {
	name   string
	even   bool // results are rounded half to even, otherwise half away from zero
	fours  bool // products are summed in groups of four first, each sum rounded to 12 bits
	shifts bool // a slice after column 0 is multiplied by 16 on the way

	exp2, reciprocal, root, reciprocalRoot curve

	recipe
	order func(n int) []int // in which order n products are summed; nil is as they come
}

// recipe is one possible composition of an operator from others, where no measurement
// decides.
type recipe struct {
	divide  bool // softmax divides, otherwise it multiplies by a reciprocal
	macSums bool // softmax and layer_norm compute sums as products with 1
	squares bool // the variance is the mean square minus the square of the mean
}

// infinity replaces numbers that are too large for fp16.
const infinity = 65536

// chips are the generations that differ in what the models compute. H14 is like
// m1; H16 and H17 are like m6.
func chips() []chip {
	return []chip{chip{name: "m1", even: true, fours: true, shifts: true}.sampled(), chip{name: "m6"}.sampled()}
}

// recipes returns all compositions to test: no operator depends on both divide and
// squares.
func recipes() []recipe {
	return []recipe{{}, {divide: true, squares: true}, {macSums: true}, {divide: true, squares: true, macSums: true}}
}

// half rounds to fp16.
func (c chip) half(v float64) float64 { return round(v, 10, c.even) }

// away rounds to fp16, half away from zero, as reductions do on every chip.
func away(v float64) float64 { return round(v, 10, false) }

// round keeps so many bits after the first, but no bits below the last bit of fp16
// subnormals. Numbers beyond fp16 become infinity, -0 becomes 0.
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

// exponent is the exponent of v in fp16: at least -14.
func exponent(v float64) int {
	if v == 0 {
		return -14
	}
	return max(math.Ilogb(v), -14)
}
