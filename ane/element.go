package ane

import (
	"encoding/binary"
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
)

// At returns the element at index, one number for each axis, as float32. A
// 32-bit integer beyond 2^24 is rounded.
func (t *Tensor) At(index ...int) (float32, error) {
	e, err := t.element("at", index)
	if err != nil {
		return 0, err
	}
	return load(t.layout.DType, e), nil
}

// Set stores v at index, converted to the tensor's type: fp16 rounds to
// nearest even, integers truncate toward zero and clamp, bool is v != 0.
func (t *Tensor) Set(v float32, index ...int) error {
	e, err := t.element("set", index)
	if err != nil {
		return err
	}
	store(t.layout.DType, e, v)
	return nil
}

// Bits returns the raw fp16 element at index; ErrType for other tensors.
func (t *Tensor) Bits(index ...int) (fp16.Bits, error) {
	e, err := t.half("bits", index)
	if err != nil {
		return 0, err
	}
	return fp16.Bits(binary.LittleEndian.Uint16(e)), nil
}

// SetBits stores a raw fp16 element at index; ErrType for other tensors.
func (t *Tensor) SetBits(v fp16.Bits, index ...int) error {
	e, err := t.half("set bits", index)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint16(e, uint16(v))
	return nil
}

// element returns the bytes of one element.
func (t *Tensor) element(op string, index []int) ([]byte, error) {
	b, err := t.bytes(op)
	if err != nil {
		return nil, err
	}
	at, err := t.layout.Offset(index...)
	if err != nil {
		return nil, err
	}
	return b[at : at+t.layout.DType.Size()], nil
}

// half is element for fp16 tensors.
func (t *Tensor) half(op string, index []int) ([]byte, error) {
	if t.layout.DType != mil.FP16 {
		return nil, &Error{Op: op, Name: t.layout.Name, Err: ErrType, Detail: t.layout.DType.String() + ", not fp16", Hint: "use At and Set"}
	}
	return t.element(op, index)
}

// load reads one element of type d from the start of e.
func load(d mil.DType, e []byte) float32 {
	switch d {
	case mil.FP16:
		return fp16.Bits(binary.LittleEndian.Uint16(e)).Float32()
	case mil.FP32:
		return math.Float32frombits(binary.LittleEndian.Uint32(e))
	case mil.Int8:
		return float32(int8(e[0]))
	case mil.UInt8:
		return float32(e[0])
	case mil.Int16:
		return float32(int16(binary.LittleEndian.Uint16(e)))
	case mil.UInt16:
		return float32(binary.LittleEndian.Uint16(e))
	case mil.Int32:
		return float32(int32(binary.LittleEndian.Uint32(e)))
	case mil.UInt32:
		return float32(binary.LittleEndian.Uint32(e))
	case mil.Bool:
		if e[0] != 0 {
			return 1
		}
	}
	return 0
}

// store writes v as type d to the start of e.
func store(d mil.DType, e []byte, v float32) {
	switch d {
	case mil.FP16:
		binary.LittleEndian.PutUint16(e, uint16(fp16.FromFloat32(v)))
	case mil.FP32:
		binary.LittleEndian.PutUint32(e, math.Float32bits(v))
	case mil.Int8:
		e[0] = byte(int8(clamp(v, math.MinInt8, math.MaxInt8)))
	case mil.UInt8:
		e[0] = byte(clamp(v, 0, math.MaxUint8))
	case mil.Int16:
		binary.LittleEndian.PutUint16(e, uint16(int16(clamp(v, math.MinInt16, math.MaxInt16))))
	case mil.UInt16:
		binary.LittleEndian.PutUint16(e, uint16(clamp(v, 0, math.MaxUint16)))
	case mil.Int32:
		binary.LittleEndian.PutUint32(e, uint32(int32(clamp(v, math.MinInt32, math.MaxInt32))))
	case mil.UInt32:
		binary.LittleEndian.PutUint32(e, uint32(clamp(v, 0, math.MaxUint32)))
	case mil.Bool:
		e[0] = 0
		if v != 0 {
			e[0] = 1
		}
	}
}

// clamp truncates v toward zero into [lo, hi]; NaN becomes 0.
func clamp(v float32, lo, hi int64) int64 {
	f := math.Trunc(float64(v))
	switch {
	case f != f:
		return 0
	case f <= float64(lo):
		return lo
	case f >= float64(hi):
		return hi
	}
	return int64(f)
}
