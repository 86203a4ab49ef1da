package ops

import (
	"encoding/binary"
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
)

// Floats returns the elements of a constant as float64, exactly; nil for
// strings and for values that are not constant.
func (v *Value) Floats() []float64 {
	if v.Data == nil {
		return nil
	}
	size := v.DType.Size()
	out := make([]float64, v.Elements())
	for i := range out {
		out[i] = decode(v.DType, v.Data[i*size:])
	}
	return out
}

// decode reads one element.
func decode(d mil.DType, e []byte) float64 {
	switch d {
	case mil.FP16:
		return float64(fp16.Bits(binary.LittleEndian.Uint16(e)).Float32())
	case mil.BF16:
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(e)) << 16))
	case mil.FP32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(e)))
	case mil.FP64:
		return math.Float64frombits(binary.LittleEndian.Uint64(e))
	case mil.Bool, mil.UInt8:
		return float64(e[0])
	case mil.Int8:
		return float64(int8(e[0]))
	case mil.Int16:
		return float64(int16(binary.LittleEndian.Uint16(e)))
	case mil.UInt16:
		return float64(binary.LittleEndian.Uint16(e))
	case mil.Int32:
		return float64(int32(binary.LittleEndian.Uint32(e)))
	case mil.UInt32:
		return float64(binary.LittleEndian.Uint32(e))
	case mil.Int64:
		return float64(int64(binary.LittleEndian.Uint64(e)))
	case mil.UInt64:
		return float64(binary.LittleEndian.Uint64(e))
	}
	return math.NaN()
}

// encodeFloats packs numbers as elements of a floating-point type.
func encodeFloats(d mil.DType, fs []float64) []byte {
	out := make([]byte, 0, len(fs)*d.Size())
	for _, f := range fs {
		switch d {
		case mil.FP16:
			out = binary.LittleEndian.AppendUint16(out, uint16(fp16.FromFloat64(f)))
		case mil.FP32:
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(f)))
		case mil.FP64:
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(f))
		}
	}
	return out
}

// encodeInts packs numbers, already checked against the type's range, as
// elements of an integer type of whole bytes.
func encodeInts(d mil.DType, is []int64) []byte {
	out := make([]byte, 0, len(is)*d.Size())
	for _, n := range is {
		switch d.Size() {
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
