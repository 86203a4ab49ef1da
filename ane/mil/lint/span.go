package lint

import "math"

// span is an interval that holds every value of a tensor. The ends of an unknown one are NaN, and with them those of
// all that is computed from it.
type span struct{ lo, hi float64 }

var unknown = span{math.NaN(), math.NaN()}

// between returns a span; an end that is no number makes it unknown.
func between(lo, hi float64) span {
	if s := (span{lo, hi}); s.known() && !math.IsInf(lo, 0) && !math.IsInf(hi, 0) {
		return s
	}
	return unknown
}

func (s span) known() bool { return s.lo <= s.hi }

// most returns the largest magnitude.
func (s span) most() float64 { return max(math.Abs(s.lo), math.Abs(s.hi)) }

// has reports whether the span holds a value of an interval.
func (s span) has(lo, hi float64) bool { return s.lo <= hi && s.hi >= lo }

func (s span) join(t span) span { return between(min(s.lo, t.lo), max(s.hi, t.hi)) }

func (s span) plus(t span) span { return between(s.lo+t.lo, s.hi+t.hi) }

func (s span) minus(t span) span { return between(s.lo-t.hi, s.hi-t.lo) }

func (s span) times(t span) span {
	a, b, c, d := s.lo*t.lo, s.lo*t.hi, s.hi*t.lo, s.hi*t.hi
	return between(min(a, b, c, d), max(a, b, c, d))
}

func (s span) over(t span) span {
	if t.has(0, 0) {
		return unknown
	}
	return s.times(between(1/t.hi, 1/t.lo))
}

// monotone applies a function that never falls.
func (s span) monotone(f func(float64) float64) span { return between(f(s.lo), f(s.hi)) }

// square returns the span of the squares.
func (s span) square() span { return s.abs().monotone(func(f float64) float64 { return f * f }) }

// abs returns the span of the magnitudes.
func (s span) abs() span { return between(max(s.lo, -s.hi, 0), s.most()) }

// within cuts a span to an interval; an unknown span becomes the interval.
func (s span) within(lo, hi float64) span {
	if !s.known() {
		return between(lo, hi)
	}
	return between(min(max(s.lo, lo), hi), min(max(s.hi, lo), hi))
}
