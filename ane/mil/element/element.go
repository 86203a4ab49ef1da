// Package element reads and writes single elements of tensors: it converts
// little-endian bytes of any whole-byte type to and from float64. The conversion is
// exact except for 64-bit integers beyond 2^53.
package element

import (
	"encoding/binary"
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
)

var le = binary.LittleEndian

// Load returns the element of type d at the start of e. A bool is 0 or 1. The
// result is NaN for types without whole bytes.
func Load(d mil.DType, e []byte) float64 {
	switch d {
	case mil.FP16:
		return float64(fp16.Bits(le.Uint16(e)).Float32())
	case mil.BF16:
		return float64(math.Float32frombits(uint32(le.Uint16(e)) << 16))
	case mil.FP32:
		return float64(math.Float32frombits(le.Uint32(e)))
	case mil.FP64:
		return math.Float64frombits(le.Uint64(e))
	case mil.Bool:
		if e[0] == 0 {
			return 0
		}
		return 1
	case mil.UInt8:
		return float64(e[0])
	case mil.Int8:
		return float64(int8(e[0]))
	case mil.UInt16:
		return float64(le.Uint16(e))
	case mil.Int16:
		return float64(int16(le.Uint16(e)))
	case mil.UInt32:
		return float64(le.Uint32(e))
	case mil.Int32:
		return float64(int32(le.Uint32(e)))
	case mil.UInt64:
		return float64(le.Uint64(e))
	case mil.Int64:
		return float64(int64(le.Uint64(e)))
	}
	return math.NaN()
}

// Store writes v as type d to the start of e: floats round once to nearest
// even, integers truncate toward zero and clamp, NaN becomes the integer 0, bool is
// v != 0. It reports whether it can write the type d: all that Load reads except bf16.
func Store(d mil.DType, e []byte, v float64) bool {
	switch d {
	case mil.FP16:
		le.PutUint16(e, uint16(fp16.FromFloat64(v)))
	case mil.FP32:
		le.PutUint32(e, math.Float32bits(float32(v)))
	case mil.FP64:
		le.PutUint64(e, math.Float64bits(v))
	case mil.Bool:
		e[0] = 0
		if v != 0 {
			e[0] = 1
		}
	case mil.UInt8:
		e[0] = byte(clamp(v, 0, math.MaxUint8))
	case mil.Int8:
		e[0] = byte(clamp(v, math.MinInt8, math.MaxInt8))
	case mil.UInt16:
		le.PutUint16(e, uint16(clamp(v, 0, math.MaxUint16)))
	case mil.Int16:
		le.PutUint16(e, uint16(clamp(v, math.MinInt16, math.MaxInt16)))
	case mil.UInt32:
		le.PutUint32(e, uint32(clamp(v, 0, math.MaxUint32)))
	case mil.Int32:
		le.PutUint32(e, uint32(clamp(v, math.MinInt32, math.MaxInt32)))
	default:
		return false
	}
	return true
}

// clamp truncates v into [lo, hi].
func clamp(v, lo, hi float64) int64 {
	if v != v {
		return 0
	}
	return int64(math.Trunc(min(max(v, lo), hi)))
}
