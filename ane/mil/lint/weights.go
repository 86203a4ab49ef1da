package lint

import (
	"bytes"
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/element"
)

// maxElements is the largest number of elements of a constant that lint reads.
const maxElements = 1 << 27

// weightReader reads the elements of constants in files.
type weightReader struct {
	weights Weights
	path    string // of the open file
	file    *blob.File
	data    []byte
}

// open opens a file unless it is open already; false if it cannot be read.
func (w *weightReader) open(path string) bool {
	if w.weights == nil {
		return false
	}
	if w.path == path && path != "" {
		return w.file != nil
	}
	w.path, w.file = path, nil
	data, err := w.weights.ReadFile(path)
	if err != nil {
		return false
	}
	if w.file, err = blob.NewReader(bytes.NewReader(data), int64(len(data)), path); err != nil {
		w.file = nil
		return false
	}
	w.data = data
	return true
}

// elements returns the elements of a constant; nil if they cannot be read.
func (w *weightReader) elements(v *value) []float64 {
	if v == nil || v.lit == nil || !v.fixed || v.elements() > maxElements {
		return nil
	}
	b := v.lit.Blob()
	if b == nil {
		return literal(v)
	}
	path, offset, err := b.Entry()
	size := v.dtype.Size()
	if err != nil || size == 0 || !w.open(path) {
		return nil
	}
	e, err := w.file.Find(offset, v.lit.Type)
	if err != nil || e.DataOffset < 0 || e.Size < 0 || e.DataOffset+e.Size > int64(len(w.data)) {
		return nil
	}
	raw := w.data[e.DataOffset : e.DataOffset+e.Size]
	out := make([]float64, len(raw)/size)
	for i := range out {
		out[i] = element.Load(v.dtype, raw[i*size:])
	}
	return out
}

// literal returns the elements of a constant in the text.
func literal(v *value) []float64 {
	switch {
	case v.dtype.Float():
		list, err := v.lit.Floats()
		if err != nil {
			return nil
		}
		return list
	case v.dtype.Integer():
		list, err := v.lit.Ints()
		if err != nil {
			return nil
		}
		out := make([]float64, len(list))
		for i, n := range list {
			out[i] = float64(n)
		}
		return out
	case v.dtype == mil.Bool:
		return []float64{0, 1}
	}
	return nil
}

// spanOf returns the span of elements; unknown if one is not finite.
func spanOf(list []float64) span {
	if len(list) == 0 {
		return span{}
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, x := range list {
		if math.IsNaN(x) {
			return span{}
		}
		lo, hi = min(lo, x), max(hi, x)
	}
	return between(lo, hi)
}
