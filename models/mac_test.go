package models_test

import "math"

// lsb is the value of the last bit of the 32-bit register that sums products.
const lsb = 1. / 65536

// limit is the largest magnitude of that register.
const limit = 32768

// product is the product of x and w in the register. It is 0 when the exponents sum to
// -17 or less, for all fractions.
func product(x, w float64) float64 {
	if x == 0 || w == 0 || exponent(x)+exponent(w) <= -17 {
		return 0
	}
	return math.Round(x*w/lsb) * lsb
}

// mac adds the products of x and w to bias, as M6 does; no model has a bias. After an
// overflow of the register the sum stays infinite.
func (c chip) mac(x, w []float64, bias float64) float64 {
	group := 1
	if c.fours {
		group = 4
	}
	acc := math.Round(bias/lsb) * lsb
	for from := 0; from < len(x); from += group {
		to := min(from+group, len(x))
		sum := product(x[from], w[from])
		for i := from + 1; i < to; i++ {
			sum = twelve(sum, product(x[i], w[i]))
			if math.Abs(sum) >= limit {
				return math.Copysign(infinity, sum)
			}
		}
		acc += sum
		if math.Abs(acc) >= limit {
			return math.Copysign(infinity, acc)
		}
	}
	return c.half(acc)
}

// twelve adds and rounds to half of the last fp16 bit of the larger operand.
func twelve(a, b float64) float64 {
	unit := math.Ldexp(1, exponent(max(math.Abs(a), math.Abs(b)))-11)
	return math.RoundToEven((a+b)/unit) * unit
}

// dot sums the products of x and w in the order of the chip.
func (c chip) dot(x, w []float64) float64 {
	if c.order == nil {
		return c.mac(x, w, 0)
	}
	a, b := make([]float64, len(x)), make([]float64, len(x))
	for i, from := range c.order(len(x)) {
		a[i], b[i] = x[from], w[from]
	}
	return c.mac(a, b, 0)
}
