package ops

import (
	"encoding/binary"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
)

// Floats returns the elements of a constant, converted exactly to float64. It returns
// nil for strings and for values that are not constant.
func (v *Value) Floats() []float64 {
	if v.Data == nil {
		return nil
	}
	size := element.Size(v.DType)
	out := make([]float64, v.Elements())
	for i := range out {
		out[i] = element.Load(v.DType, v.Data[i*size:])
	}
	return out
}

// encodeFloats packs numbers as elements of a floating-point type.
func encodeFloats(d mil.DType, fs []float64) []byte {
	size := element.Size(d)
	out := make([]byte, len(fs)*size)
	for i, f := range fs {
		element.Store(d, out[i*size:], f)
	}
	return out
}

// encodeInts writes numbers, already checked against the type's range, as
// elements of an integer type.
func encodeInts(d mil.DType, is []int64) []byte {
	size := element.Size(d)
	out := make([]byte, 0, len(is)*size)
	for _, n := range is {
		switch size {
		case 1:
			out = append(out, byte(n))
		case 2:
			out = binary.LittleEndian.AppendUint16(out, uint16(n))
		case 4:
			out = binary.LittleEndian.AppendUint32(out, uint32(n))
		case 8:
			out = binary.LittleEndian.AppendUint64(out, uint64(n))
		}
	}
	return out
}
