// Package run has what a step of the software engine runs on. It has the memory of operands (Vec), the goroutines that
// share work (Call, Crew), and the engine's own mappings of surfaces.
package run

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/unimem"
)

// Vec is a dense tensor in memory, viewed as elements. raw always holds its bytes. The other fields view them as the
// types that kernels compute with, or by width for kernels that only copy elements.
type Vec struct {
	DType  mil.DType
	Raw    []byte
	Half   []fp16.Bits
	Single []float32
	Ints   []int32
	Pairs  []uint16
	Quads  []uint32
	Rules  numerics.Rules // how load and store convert halves
}

// View returns b as elements of type d, or an error if b is not aligned for them.
func View(d mil.DType, b []byte) (v Vec, err error) {
	v = Vec{DType: d, Raw: b}
	switch d.Size() {
	case 2:
		v.Pairs, err = unimem.View[uint16](b)
	case 4:
		v.Quads, err = unimem.View[uint32](b)
	}
	if err != nil {
		return Vec{}, err
	}
	switch d {
	case mil.FP16:
		v.Half, err = unimem.View[fp16.Bits](b)
	case mil.FP32:
		v.Single, err = unimem.View[float32](b)
	case mil.Int32:
		v.Ints, err = unimem.View[int32](b)
	}
	return v, err
}

// Len is the number of elements.
func (v *Vec) Len() int { return len(v.Raw) / element.Size(v.DType) }

// Load decodes len(dst) elements of floating point, or of int8, from element at, into dst.
func (v *Vec) Load(dst []float32, at int) {
	if v.Half != nil {
		halves.Decode(dst, v.Half[at:at+len(dst)], v.Rules)
		return
	}
	if v.DType == mil.Int8 {
		for i, b := range v.Raw[at : at+len(dst)] {
			dst[i] = float32(int8(b))
		}
		return
	}
	copy(dst, v.Single[at:at+len(dst)])
}

// Store rounds src into the floating-point elements from element at. For halves each element of src is exact, or comes
// from narrow: the rules may round half away, which a value rounded to nearest before would get wrong.
func (v *Vec) Store(src []float32, at int) {
	if v.Half != nil {
		halves.Encode(v.Half[at:at+len(src)], src, v.Rules)
		return
	}
	copy(v.Single[at:at+len(src)], src)
}

// Value returns one element of any type.
func (v *Vec) Value(i int) float64 {
	if v.Half != nil {
		return float64(v.Rules.Value(v.Half[i]))
	}
	return element.Load(v.DType, v.Raw[i*element.Size(v.DType):])
}
