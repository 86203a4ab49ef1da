package soft

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/internal/numbers"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/unimem"
)

// vec is a dense tensor in memory, viewed as elements. raw always holds its
// bytes. The other fields view them as the types that kernels compute with, or
// by width for kernels that only copy elements.
type vec struct {
	dtype  mil.DType
	raw    []byte
	half   []fp16.Bits
	single []float32
	ints   []int32
	pairs  []uint16
	quads  []uint32
	rules  numerics.Rules // how load and store convert halves
}

// view returns b as elements of type d, or an error if b is not aligned for
// them.
func view(d mil.DType, b []byte) (v vec, err error) {
	v = vec{dtype: d, raw: b}
	switch d.Size() {
	case 2:
		v.pairs, err = unimem.View[uint16](b)
	case 4:
		v.quads, err = unimem.View[uint32](b)
	}
	if err != nil {
		return vec{}, err
	}
	switch d {
	case mil.FP16:
		v.half, err = unimem.View[fp16.Bits](b)
	case mil.FP32:
		v.single, err = unimem.View[float32](b)
	case mil.Int32:
		v.ints, err = unimem.View[int32](b)
	}
	return v, err
}

// len is the number of elements.
func (v *vec) len() int { return len(v.raw) / element.Size(v.dtype) }

// load decodes len(dst) elements of floating point, or of int8, from element at, into dst.
func (v *vec) load(dst []float32, at int) {
	if v.half != nil {
		if v.rules.Has(numerics.Exponent31) {
			numbers.Decode(dst, v.half[at:at+len(dst)])
		} else {
			v.rules.Decode(dst, v.half[at:at+len(dst)])
		}
		return
	}
	if v.dtype == mil.Int8 {
		for i, b := range v.raw[at : at+len(dst)] {
			dst[i] = float32(int8(b))
		}
		return
	}
	copy(dst, v.single[at:at+len(dst)])
}

// store rounds src into the floating-point elements from element at. For halves each element of src is
// exact, or comes from narrow: the rules may round half away, which a value rounded to nearest before
// would get wrong.
func (v *vec) store(src []float32, at int) {
	if v.half != nil {
		if v.rules.Has(numerics.Exponent31) {
			numbers.Encode(v.half[at:at+len(src)], src, v.rules.Has(numerics.HalfAway))
		} else {
			v.rules.Encode(v.half[at:at+len(src)], src)
		}
		return
	}
	copy(v.single[at:at+len(src)], src)
}

// narrow prepares a float64 for storing as d. For fp16 it rounds to odd, so
// that the second rounding, to fp16, gives the same result as a single
// rounding.
func narrow(d mil.DType, f float64) float32 {
	if d == mil.FP16 {
		return toOdd(f)
	}
	return float32(f)
}
