package lint

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// maxElements is the largest number of elements of a constant that lint reads.
const maxElements = 1 << 27

// readWeights reads the constants in files, as far as they are there.
func (r *run) readWeights() {
	var list []*ops.Weight
	var values []*mil.Value
	for _, v := range r.prog.Weights() {
		path, offset, err := v.Blob().Entry()
		n, fixed := v.Type.Elements()
		if err == nil && fixed && n <= maxElements && v.Type.DType.Size() > 0 {
			list = append(list, &ops.Weight{Type: v.Type, Path: path, Offset: offset})
			values = append(values, v)
		}
	}
	entries, _ := ops.Reread("", list, r.Weights)
	for i, e := range entries {
		r.weights[values[i]] = e.Data
	}
}

// elements returns the elements of a constant; nil if they are not known.
func (r *run) elements(v *ops.Value) []float64 {
	if v == nil || v.Literal == nil || v.Open || v.Elements() > maxElements {
		return nil
	}
	if v.Literal.Blob() == nil {
		return literal(v)
	}
	read := ops.Value{DType: v.DType, Shape: v.Shape, Data: r.weights[v.Literal]}
	return read.Floats()
}

// spanOf returns the span of elements; unknown if one is not finite.
func spanOf(list []float64) span {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, x := range list {
		lo, hi = min(lo, x), max(hi, x)
	}
	return between(lo, hi)
}
