package ane

import "context"

// A nil pointer answers as the zero value does: as something closed, without
// memory. A nil context is one that never ends.

func (d *Device) orZero() *Device {
	if d == nil {
		return &Device{}
	}
	return d
}

func (m *Model) orZero() *Model {
	if m == nil {
		return &Model{}
	}
	return m
}

func (r *Request) orZero() *Request {
	if r == nil {
		return &Request{}
	}
	return r
}

func (t *Tensor) orZero() *Tensor {
	if t == nil {
		return &Tensor{}
	}
	return t
}

func given(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
