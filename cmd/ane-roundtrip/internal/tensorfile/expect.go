package tensorfile

import (
	"fmt"
	"math"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/element"
)

// Expected compares an output with the expected values, both dense and of the type of l. A value
// may differ by tol, or by tol times the expected value where that is above 1. NaN and infinities
// match only themselves.
func Expected(l ane.Layout, got, want []byte, tol float64) trial.Check {
	size, wrong, where, worst := l.DType.Size(), 0, -1, 0.0
	for i := range l.Elements() {
		g, w := element.Load(l.DType, got[i*size:]), element.Load(l.DType, want[i*size:])
		if g == w || math.IsNaN(g) && math.IsNaN(w) {
			continue
		}
		diff := math.Abs(g - w)
		if math.IsNaN(diff) || math.IsInf(w, 0) {
			diff = math.Inf(1)
		}
		if diff > tol*max(1, math.Abs(w)) || math.IsInf(diff, 1) {
			if wrong++; where < 0 {
				where = i
			}
		}
		worst = max(worst, diff)
	}
	c := trial.Judge("expect/"+l.Name, wrong == 0, worst, "max abs error", "all %d values are within %g", l.Elements(), tol)
	if wrong > 0 {
		c.Detail = fmt.Sprintf("%d of %d values are not within %g: %s%v is %g, expected %g", wrong, l.Elements(), tol,
			l.Name, indexOf(where, l.Shape), element.Load(l.DType, got[where*size:]), element.Load(l.DType,
				want[where*size:]))
	}
	return c.Against(trial.Scaled(tol))
}

// indexOf returns the index of the n-th element of a row-major array.
func indexOf(n int, shape []int) []int {
	index := make([]int, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		index[i], n = n%shape[i], n/shape[i]
	}
	return index
}

// Extent is what the elements of a tensor are. NaN is neither the least nor the largest.
type Extent struct {
	Min trial.Number `json:"min"` // infinite, and null in JSON, without elements
	Max trial.Number `json:"max"`
	NaN int          `json:"nan"`
}

// ExtentOf looks at dense elements of a type.
func ExtentOf(d mil.DType, data []byte) Extent {
	e := Extent{Min: trial.Number(math.Inf(1)), Max: trial.Number(math.Inf(-1))}
	size := d.Size()
	for i := 0; size > 0 && i+size <= len(data); i += size {
		x := element.Load(d, data[i:])
		if math.IsNaN(x) {
			e.NaN++
			continue
		}
		e.Min, e.Max = min(e.Min, trial.Number(x)), max(e.Max, trial.Number(x))
	}
	return e
}
