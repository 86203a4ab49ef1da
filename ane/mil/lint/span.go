package lint

import "math"

// span is an interval that holds every value of a tensor. It is known only if ok.
type span struct {
	lo, hi float64
	ok     bool
}

// between returns a span; an end that is no number makes it unknown.
func between(lo, hi float64) span {
	return span{lo, hi, lo <= hi && !math.IsInf(lo, 0) && !math.IsInf(hi, 0)}
}

// most returns the largest magnitude.
func (s span) most() float64 { return max(math.Abs(s.lo), math.Abs(s.hi)) }

// has reports whether the span holds a value of an interval.
func (s span) has(lo, hi float64) bool { return s.lo <= hi && s.hi >= lo }

func (s span) join(t span) span {
	if !s.ok || !t.ok {
		return span{}
	}
	return between(min(s.lo, t.lo), max(s.hi, t.hi))
}

func (s span) plus(t span) span {
	if !s.ok || !t.ok {
		return span{}
	}
	return between(s.lo+t.lo, s.hi+t.hi)
}

func (s span) minus(t span) span {
	if !s.ok || !t.ok {
		return span{}
	}
	return between(s.lo-t.hi, s.hi-t.lo)
}

func (s span) times(t span) span {
	if !s.ok || !t.ok {
		return span{}
	}
	a, b, c, d := s.lo*t.lo, s.lo*t.hi, s.hi*t.lo, s.hi*t.hi
	return between(min(a, b, c, d), max(a, b, c, d))
}

func (s span) over(t span) span {
	if !s.ok || !t.ok || t.lo <= 0 && t.hi >= 0 {
		return span{}
	}
	return s.times(between(1/t.hi, 1/t.lo))
}

// monotone applies a function that never falls.
func (s span) monotone(f func(float64) float64) span {
	if !s.ok {
		return span{}
	}
	return between(f(s.lo), f(s.hi))
}

// square returns the span of the squares.
func (s span) square() span {
	if !s.ok {
		return span{}
	}
	lo := 0.0
	if s.lo > 0 || s.hi < 0 {
		lo = min(s.lo*s.lo, s.hi*s.hi)
	}
	return between(lo, s.most()*s.most())
}

// abs returns the span of the magnitudes.
func (s span) abs() span {
	if !s.ok {
		return span{}
	}
	lo := 0.0
	if s.lo > 0 || s.hi < 0 {
		lo = min(math.Abs(s.lo), math.Abs(s.hi))
	}
	return between(lo, s.most())
}

// within cuts a span to an interval; an unknown span becomes the interval.
func (s span) within(lo, hi float64) span {
	if !s.ok {
		return between(lo, hi)
	}
	return between(min(max(s.lo, lo), hi), min(max(s.hi, lo), hi))
}
