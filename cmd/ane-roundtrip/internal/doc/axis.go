package doc

import (
	"cmp"
	"math"
	"strconv"
)

// tick is a labeled place of an axis.
type tick struct {
	Value float64
	Label string
}

// Axis is how an axis shows its values.
type Axis struct {
	Form  Form
	Log   bool
	Ends  bool    // ticks at the ends alone
	Step  float64 // of logarithmic ticks: 10 for decades, 4 or 16 for sizes
	Label string

	ticks []tick
}

// text formats a tick.
func (a Axis) text(v float64) string {
	if a.Form == nil {
		return signed(strconv.FormatFloat(v, 'g', 4, 64))
	}
	n, unit := a.Form(v)
	if unit == "" {
		return n
	}
	return n + " " + unit
}

// farthest is the largest value that has a place on an axis, and its inverse the smallest on a logarithmic one. Sums
// and quotients of such values are finite.
const farthest = 1e60

// usable reports whether a value has a place on the axis.
func (a Axis) usable(v float64) bool {
	return math.Abs(v) <= farthest && (!a.Log || v >= 1/farthest) // false for NaN
}

// span widens a range so that it has a length, and 0 in it unless the axis is logarithmic.
func (a Axis) span(low, high float64) (float64, float64) {
	if !a.Log {
		low, high = min(low, 0), max(high, 0)
	}
	switch {
	case high > low:
	case a.Log:
		low, high = low/2, high*2
	default:
		high = 1
	}
	return low, high
}

// part returns where a value lies between the ends of the axis: 0 is low, 1 is high.
func (a Axis) part(low, high, v float64) float64 {
	if a.Log {
		low, high, v = math.Log(low), math.Log(high), math.Log(v)
	}
	return (v - low) / (high - low)
}

// placed places the ticks.
func (a Axis) placed(low, high float64) (all []tick) {
	base := cmp.Or(a.Step, 10)
	switch {
	case a.ticks != nil:
		return a.ticks
	case a.Ends:
		return a.ends(low, high)
	case a.Log && base == 10 && high/low < 30:
		return a.within(low, high)
	case a.Log:
		from, to := math.Ceil(math.Log(low)/math.Log(base)-1e-9), math.Floor(math.Log(high)/math.Log(base)+1e-9)
		every := max(1, math.Ceil((to-from+1)/6))
		for e := from; e <= to; e += every {
			v := math.Pow(base, e)
			all = append(all, tick{Value: v, Label: a.text(v)})
		}
		if len(all) < 2 {
			return a.ends(low, high)
		}
		return all
	}
	for _, v := range round(low, high, 5) {
		all = append(all, tick{Value: v, Label: a.text(v)})
	}
	return all
}

// within places ticks at 1, 2 and 5 times powers of ten, or at the ends of a short range.
func (a Axis) within(low, high float64) (all []tick) {
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, e); v >= low*(1-1e-9) && v <= high*(1+1e-9) {
				all = append(all, tick{Value: v, Label: a.text(v)})
			}
		}
	}
	if len(all) < 2 {
		return a.ends(low, high)
	}
	return all
}

// ends places ticks at the ends of a range.
func (a Axis) ends(low, high float64) []tick {
	return []tick{{Value: low, Label: a.text(low)}, {Value: high, Label: a.text(high)}}
}

// round returns about n round values in a range.
func round(low, high float64, n int) (all []float64) {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/float64(n))))
	for _, m := range []float64{1, 2, 5, 10} {
		if (high-low)/(step*m) <= float64(n) {
			step *= m
			break
		}
	}
	if !(step > 0) || max(-low, high)/step > 1e9 { // the values differ too little
		return []float64{low, high}
	}
	for i := math.Ceil(low/step - 1e-9); i*step <= high+1e-9*step; i++ {
		all = append(all, i*step+0) // plus 0, since -0 has a sign
	}
	return all
}

// Bytes is an axis of bytes up to high, with ticks at round multiples of a power of 1024.
func Bytes(high float64) Axis {
	a := Axis{Form: SizeOf}
	high = min(high, farthest)
	unit := 1.0
	for high/unit >= 1024 {
		unit *= 1024
	}
	for _, v := range round(0, high/unit, 5) {
		n, u := SizeOf(v * unit)
		a.ticks = append(a.ticks, tick{Value: v * unit, Label: n + " " + u})
	}
	return a
}

// Bare is an axis without labels.
func Bare() Axis { return Axis{ticks: []tick{}} }
