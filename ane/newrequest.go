package ane

import (
	"context"
	"errors"
	"slices"

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
	own := surfaces{model: m, options: opts}
	in, out := own.tensors(m.in), own.tensors(m.out)
	r, err := (*Request)(nil), own.err
	if err == nil {
		r, err = m.Bind(in, out)
	}
	if err != nil {
		return nil, errors.Join(err, m.device.free(own.blocks))
	}
	r.own = own.blocks
	return r, nil
}

// SurfaceSize is how many bytes a new surface for a tensor should have: those of the tensor,
// and on an engine with Info.MinSurface at least those, and as many as the largest of side
// has, the layouts of all tensors on the same side of a request.
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

// surfaces are new Blocks of a Request that is being made.
type surfaces struct {
	model   *Model
	options []unimem.Option
	blocks  []*unimem.Block
	err     error // the first error
}

// tensors makes a tensor on a new Block for each layout, until one fails.
func (s *surfaces) tensors(layouts []Layout) map[string]*Tensor {
	made := map[string]*Tensor{}
	for _, l := range layouts {
		if s.err != nil {
			break
		}
		var b *unimem.Block
		if b, s.err = unimem.Open(s.model.SurfaceSize(l, layouts), s.options...); s.err != nil {
			s.err = &Error{Op: "request", Name: l.Name, Err: s.err}
			break
		}
		s.blocks = append(s.blocks, b)
		made[l.Name], s.err = OnBlock(b, l)
	}
	return made
}

// Input returns the tensor of the input called name, of NewRequest or Bind. If there is
// no such input, the calls of the returned tensor return ErrName, so that
// r.Input("x").Set(..) needs only one check.
func (r *Request) Input(name string) *Tensor {
	r = orZero(r)
	return r.named("input", name, true)
}

// Output is Input for an output.
func (r *Request) Output(name string) *Tensor {
	r = orZero(r)
	return r.named("output", name, false)
}

func (r *Request) named(what, name string, input bool) *Tensor {
	if r.model == nil {
		return &Tensor{fault: &Error{Op: what, Name: name, Err: ErrClosed, Hint: "make a new request"}}
	}
	among, tensors := r.model.out, r.out
	if input {
		among, tensors = r.model.in, r.in
	}
	i := slices.IndexFunc(among, func(l Layout) bool { return l.Name == name })
	if i < 0 {
		return &Tensor{fault: r.model.unknown(what, name, among)}
	}
	return tensors[i]
}
