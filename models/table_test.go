package models_test

import "math"

// curve is a function as the engine stores it: knots at equal distances and straight
// lines between them.
type curve struct {
	first, step float64
	knots       []float64
}

// curveOf samples f at n knots.
func (c chip) curveOf(f func(float64) float64, first, step float64, n int) curve {
	t := curve{first, step, make([]float64, n)}
	for i := range t.knots {
		t.knots[i] = c.half(f(first + float64(i)*step))
	}
	return t
}

// at rounds the rise within a segment, then the sum.
func (t curve) at(c chip, x float64) float64 {
	i := min(max(int(math.Floor((x-t.first)/t.step)), 0), len(t.knots)-2)
	part := (x - t.first - float64(i)*t.step) / t.step
	return c.half(t.knots[i] + c.half((t.knots[i+1]-t.knots[i])*part))
}

// sampled fills in the curves.
func (c chip) sampled() chip {
	c.exp2 = c.curveOf(math.Exp2, 0, 1./32, 33)
	c.reciprocal = c.curveOf(func(m float64) float64 { return 1 / m }, 0.5, 1./64, 33)
	c.root = c.curveOf(math.Sqrt, 0.5, 1./16, 25)
	c.reciprocalRoot = c.curveOf(func(m float64) float64 { return 1 / math.Sqrt(m) }, 0.5, 1./16, 25)
	return c
}

// exp is 2 to the power of x log2(e), rounded: the whole part is an exponent, the
// fraction is looked up in the table.
func (c chip) exp(x float64) float64 {
	z := c.half(x * c.half(math.Log2E))
	whole := math.Floor(z)
	return c.half(math.Ldexp(c.exp2.at(c, z-whole), int(whole)))
}

// inverse is 1 / (x + epsilon) for positive x.
func (c chip) inverse(x, epsilon float64) float64 {
	m, e := math.Frexp(c.half(x + epsilon))
	return c.half(math.Ldexp(c.reciprocal.at(c, m), -e))
}

// sqrt removes an even exponent. The root of a number that is not positive is 0.
func (c chip) sqrt(x float64) float64 {
	if x <= 0 {
		return 0
	}
	m, e := evenly(x)
	return c.half(math.Ldexp(c.root.at(c, m), e/2))
}

// rsqrt is 1 / sqrt(x + epsilon) for positive x.
func (c chip) rsqrt(x, epsilon float64) float64 {
	m, e := evenly(c.half(x + epsilon))
	return c.half(math.Ldexp(c.reciprocalRoot.at(c, m), -e/2))
}

// evenly splits x into m within [0.5, 2) and a power of four.
func evenly(x float64) (m float64, e int) {
	m, e = math.Frexp(x)
	if e%2 != 0 {
		return 2 * m, e - 1
	}
	return m, e
}
