package ops

import (
	"fmt"
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/element"
)

// outOfRange returns a note on the numbers of a literal that became infinite or zero
// when they were rounded to its type, or "". data holds the rounded numbers.
func outOfRange(d mil.DType, numbers []float64, data []byte) string {
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
	switch {
	case infinite > 0:
		return fmt.Sprintf("%v(%g) is beyond the range of its type and becomes infinite%s; write inf if that is meant",
			d, firstInfinite, others(infinite))
	case zero > 0:
		return fmt.Sprintf("%v(%g) is too small for its type and becomes 0%s; use a type of more digits", d, firstZero,
			others(zero))
	}
	return ""
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
