package ane

import (
	"context"
	"errors"

	"github.com/anekit/anekit/unimem"
)

// NewRequest makes a Request with new surfaces, one for each input and output, in the
// program's layout and of SurfaceSize bytes. Their bytes are zero at first. opts are options of unimem.Open, such
// as unimem.Warm. NewRequest loads the program if it is not loaded; its errors are those
// of Load and of unimem.Open.
func (m *Model) NewRequest(ctx context.Context, opts ...unimem.Option) (*Request, error) {
	if err := m.Load(ctx); err != nil {
		return nil, err
	}
	var blocks []*unimem.Block
	var r *Request
	in, err := m.surfaces(m.in, &blocks, opts)
	if err == nil {
		var out map[string]*Tensor
		if out, err = m.surfaces(m.out, &blocks, opts); err == nil {
			r, err = m.Bind(in, out)
		}
	}
	if err != nil {
		return nil, errors.Join(err, m.device.free(blocks))
	}
	r.own = blocks
	return r, nil
}

// surfaces makes a tensor on a new Block for each layout of a side, and appends the Blocks to blocks.
func (m *Model) surfaces(side []Layout, blocks *[]*unimem.Block, opts []unimem.Option) (map[string]*Tensor, error) {
	made := map[string]*Tensor{}
	for _, l := range side {
		b, err := unimem.Open(m.SurfaceSize(l, side), opts...)
		if err != nil {
			return nil, &Error{Op: "request", Name: l.Name, Err: err}
		}
		*blocks = append(*blocks, b)
		if made[l.Name], err = OnBlock(b, l); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// SurfaceSize is how many bytes a new surface for a tensor should have: at least those of the tensor. An engine with
// Info.MinSurface needs at least that, and as many bytes as the largest of side: the layouts of all tensors on the same
// side of a request.
func (m *Model) SurfaceSize(l Layout, side []Layout) int {
	n := l.Bytes()
	if m == nil || m.device == nil || m.device.info.MinSurface == 0 {
		return n
	}
	n = max(n, m.device.info.MinSurface)
	for _, s := range side {
		n = max(n, s.Bytes())
	}
	return n
}

// Input returns the tensor of the input called name, of NewRequest or Bind. If there is
// no such input, the calls of the returned tensor return ErrName, so that
// r.Input("x").Set(..) needs only one check.
func (r *Request) Input(name string) *Tensor {
	r = orZero(r)
	m := orZero(r.model)
	return m.named("input", name, m.in, r.all)
}

// Output is Input for an output.
func (r *Request) Output(name string) *Tensor {
	r = orZero(r)
	m := orZero(r.model)
	return m.named("output", name, m.out, r.all[len(m.in):])
}

// named returns the tensor of the layout called name.
func (m *Model) named(what, name string, among []Layout, tensors []*Tensor) *Tensor {
	i, err := m.find(what, name, among)
	if err != nil {
		return &Tensor{fault: err}
	}
	return tensors[i]
}
