package ops

import (
	"fmt"
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
)

// RangeNotes returns a note on each literal of p with numbers that become infinite in its type, and one on each with
// numbers that become zero, in the order of the text and at most MaxNotes. Unlike Analyze it needs no weights.
func RangeNotes(file string, p *mil.Program) (notes []string) {
	for _, g := range Survey(file, p) {
		notes = append(notes, g.ranges...)
	}
	return notes[:min(len(notes), MaxNotes)]
}

// outOfRange returns a note on the numbers of a literal that became infinite and one on those that became zero
// when they were rounded to its type. data holds the rounded numbers.
func outOfRange(d mil.DType, numbers []float64, data []byte) (notes []string) {
	size := d.Size()
	infinite, zero, firstInfinite, firstZero := 0, 0, 0.0, 0.0
	for i, x := range numbers {
		switch y := element.Load(d, data[i*size:]); {
		case math.IsInf(y, 0) && !math.IsInf(x, 0):
			if infinite++; infinite == 1 {
				firstInfinite = x
			}
		case y == 0 && x != 0:
			if zero++; zero == 1 {
				firstZero = x
			}
		}
	}
	if infinite > 0 {
		notes = append(notes, fmt.Sprintf("%v(%g) is beyond the range of its type and becomes infinite%s; write inf "+
			"if that is meant", d, firstInfinite, others(infinite)))
	}
	if zero > 0 {
		notes = append(notes, fmt.Sprintf("%v(%g) is too small for its type and becomes 0%s; use a type of larger "+
			"range", d, firstZero, others(zero)))
	}
	return notes
}

// others mentions the n-1 elements that a message does not show.
func others(n int) string {
	switch n {
	case 1:
		return ""
	case 2:
		return ", and so does 1 other element"
	}
	return fmt.Sprintf(", and so do %d other elements", n-1)
}
