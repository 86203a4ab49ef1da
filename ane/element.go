package ane

import "github.com/anekit/anekit/internal/element"

// At returns the element at index, one number for each axis, as float32. A 32-bit integer beyond 2^24 is rounded.
// Errors: ErrShape (an index outside Shape), ErrStale, ErrName for a tensor that a Request does not have.
func (t *Tensor) At(index ...int) (float32, error) {
	t = orZero(t)
	e, err := t.element("at", index)
	if err != nil {
		return 0, err
	}
	return float32(element.Load(t.layout.DType, e)), nil
}

// Set stores v at index, converted to the tensor's type: fp16 rounds to nearest even, integers truncate toward zero and
// clamp, bool is v != 0. Errors: those of At, and ErrReadOnly.
func (t *Tensor) Set(v float32, index ...int) error {
	t = orZero(t)
	if err := t.writable("set"); err != nil {
		return err
	}
	e, err := t.element("set", index)
	if err != nil {
		return err
	}
	element.Store(t.layout.DType, e, float64(v))
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
