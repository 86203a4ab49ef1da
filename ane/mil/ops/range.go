package ops

import (
	"fmt"
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/element"
)

// left says which of the numbers in a literal left the range of its type when they
// were rounded to it, and is empty if none did. data holds them rounded.
func left(d mil.DType, numbers []float64, data []byte) string {
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
		return fmt.Sprintf("%v(%g) is beyond the range of its type and becomes infinite%s; write inf if that is meant", d, firstInfinite, others(infinite))
	case zero > 0:
		return fmt.Sprintf("%v(%g) is too small for its type and becomes 0%s; use a type of more digits", d, firstZero, others(zero))
	}
	return ""
}

// others counts the elements of the same kind.
func others(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(", as %d more do", n-1)
}
