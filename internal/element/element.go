// Package element reads and writes single elements of tensors: it converts little-endian bytes of any type to and from
// float64. The conversion is exact except for 64-bit integers beyond 2^53.
//
// In memory an integer below 8 bits takes a byte of its own; Unpack and Pack convert
// from and to the form of weight files.
package element

import (
	"encoding/binary"
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
)

var le = binary.LittleEndian

// Size is the number of bytes of an element of type d in memory: 1 for integers below
// 8 bits, 0 for a type without elements.
func Size(d mil.DType) int { return (d.Bits() + 7) / 8 }

// Load returns the element of type d at the start of e. A bool is 0 or 1. The
// result is NaN for a type without elements.
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
	switch {
	case d.Unsigned():
		return float64(e[0])
	case d.Integer():
		return float64(int8(e[0]))
	}
	return math.NaN()
}

// Store writes v as type d to the start of e. Floats round once to nearest even. Integers truncate toward zero and
// clamp, and NaN becomes 0. bool is v != 0. It reports whether it can write the type d: all that Load reads except
// integers of 64 bits.
func Store(d mil.DType, e []byte, v float64) bool {
	switch d {
	case mil.FP16:
		le.PutUint16(e, uint16(fp16.FromFloat64(v)))
	case mil.BF16:
		le.PutUint16(e, bfloat(v))
	case mil.FP32:
		le.PutUint32(e, math.Float32bits(float32(v)))
	case mil.FP64:
		le.PutUint64(e, math.Float64bits(v))
	case mil.Bool:
		e[0] = 0
		if v != 0 {
			e[0] = 1
		}
	case mil.UInt16:
		le.PutUint16(e, uint16(clamp(v, 0, math.MaxUint16)))
	case mil.Int16:
		le.PutUint16(e, uint16(clamp(v, math.MinInt16, math.MaxInt16)))
	case mil.UInt32:
		le.PutUint32(e, uint32(clamp(v, 0, math.MaxUint32)))
	case mil.Int32:
		le.PutUint32(e, uint32(clamp(v, math.MinInt32, math.MaxInt32)))
	default:
		if d.Bits() > 8 || !d.Integer() {
			return false
		}
		lo, hi := d.Range()
		e[0] = byte(clamp(v, float64(lo), float64(hi)))
	}
	return true
}

// bfloat rounds v once to the upper half of a float32.
func bfloat(v float64) uint16 {
	f := float32(v)
	b := math.Float32bits(f)
	switch back := float64(f); {
	case v != v:
		return 0x7fc0
	case back == v || math.IsInf(back, 0):
	case math.Abs(back) > math.Abs(v): // the last bit tells that there is a rest
		b = (b - 1) | 1
	default:
		b |= 1
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// clamp truncates v into [lo, hi].
func clamp(v, lo, hi float64) int64 {
	if v != v {
		return 0
	}
	return int64(math.Trunc(min(max(v, lo), hi)))
}

// Bits returns the number of 1 to 8 bits at position i of numbers that are stored without gaps: the first in the low
// bits of the first byte.
func Bits(packed []byte, i, bits int) byte {
	at, low := i*bits/8, i*bits%8
	b := packed[at] >> low
	if low+bits > 8 {
		b |= packed[at+1] << (8 - low)
	}
	return b & byte(1<<bits-1)
}

// Unpack returns n integers of type d, narrower than 8 bits, that are stored as Bits reads them. Each takes a byte of
// the result, signed ones in two's complement. It panics if packed is shorter than n elements.
func Unpack(d mil.DType, packed []byte, n int) []byte {
	out, bits := make([]byte, n), d.Bits()
	for i := range out {
		out[i] = Bits(packed, i, bits)
	}
	if d.Unsigned() {
		return out
	}
	shift := 8 - bits
	for i, b := range out {
		out[i] = byte(int8(b<<shift) >> shift)
	}
	return out
}
