package soft_test

import (
	"encoding/binary"
	"math"

	"github.com/anekit/anekit/ane/mil"
)

// The number formats below follow their definitions and not the engine's
// conversions, which they test too.

var le = binary.LittleEndian

// halfBits rounds f to binary16: to the nearest multiple of the unit in the
// last place, ties to even.
func halfBits(f float64) uint16 {
	var sign uint16
	if math.Signbit(f) {
		sign = 0x8000
	}
	a := math.Abs(f)
	switch {
	case f != f:
		return 0x7e00
	case a >= 65520:
		return sign | 0x7c00
	}
	unit := unitOf(a, 11, -14)
	q := math.RoundToEven(a / unit) // up to 2048 units
	if unit == 0x1p-24 {
		return sign | uint16(q)
	}
	_, e := math.Frexp(unit) // unit = 2^(e-1)
	return sign + uint16(e-1+24)<<10 + uint16(q)
}

// unitOf is the value of the last of digits binary digits of a. The exponent of
// a counts as at least low.
func unitOf(a float64, digits, low int) float64 {
	_, e := math.Frexp(a) // a in [2^(e-1), 2^e)
	if a == 0 {
		e = low
	}
	return math.Ldexp(1, max(e-1, low)-digits+1)
}

func halfValue(b uint16) float64 {
	e, m := int(b>>10&31), float64(b&1023)
	f := math.Ldexp(1024+m, e-25)
	switch {
	case e == 31 && m == 0:
		f = math.Inf(1)
	case e == 31:
		return math.NaN()
	case e == 0:
		f = math.Ldexp(m, -24)
	}
	if b>>15 != 0 {
		return -f
	}
	return f
}

// ulp is the distance between neighbours of type d at f; for integers it is 1.
func ulp(d mil.DType, f float64) float64 {
	switch d {
	case mil.FP16:
		return unitOf(min(math.Abs(f), 65504), 11, -14)
	case mil.FP32:
		return unitOf(min(math.Abs(f), math.MaxFloat32), 24, -126)
	}
	return 1
}

func isNaN(d mil.DType, b []byte) bool { return math.IsNaN(load(d, b)) }

// store returns one element, rounded once.
func store(d mil.DType, f float64) []byte {
	b := make([]byte, d.Size())
	switch d {
	case mil.FP16:
		le.PutUint16(b, halfBits(f))
	case mil.FP32:
		le.PutUint32(b, math.Float32bits(float32(f)))
	case mil.Bool, mil.Int8, mil.UInt8:
		b[0] = byte(int64(f))
	case mil.Int16, mil.UInt16:
		le.PutUint16(b, uint16(int64(f)))
	case mil.Int32, mil.UInt32:
		le.PutUint32(b, uint32(int64(f)))
	default:
		panic(d.String())
	}
	return b
}

func load(d mil.DType, b []byte) float64 {
	switch d {
	case mil.FP16:
		return halfValue(le.Uint16(b))
	case mil.FP32:
		return float64(math.Float32frombits(le.Uint32(b)))
	case mil.Bool, mil.UInt8:
		return float64(b[0])
	case mil.Int8:
		return float64(int8(b[0]))
	case mil.Int16:
		return float64(int16(le.Uint16(b)))
	case mil.UInt16:
		return float64(le.Uint16(b))
	case mil.Int32:
		return float64(int32(le.Uint32(b)))
	case mil.UInt32:
		return float64(le.Uint32(b))
	}
	panic(d.String())
}

func encode(a nd) []byte {
	var b []byte
	for _, f := range a.v {
		b = append(b, store(a.d, f)...)
	}
	return b
}

// allHalves returns all 65,536 patterns. encode keeps the bits of no NaN except
// the quiet one, so tests of moves use the bytes themselves.
func allHalves() []byte {
	b := make([]byte, 0, 1<<17)
	for i := range 1 << 16 {
		b = le.AppendUint16(b, uint16(i))
	}
	return b
}
