package wasm

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
	linear "github.com/anekit/anekit/unimem/wasm"
)

// request is a request of a guest.
type request struct {
	program  *program
	bindings map[string]*binding
	bound    *ane.Request       // nil until the next run
	run      <-chan ane.Outcome // of start, nil when none is pending
	cancel   context.CancelFunc
}

// binding is a tensor on a guest's memory, on a cache, or on memory of its own in a copying Host.
type binding struct {
	tensor *ane.Tensor
	region *linear.Region // nil for a cache
	own    *unimem.Block  // of a copying Host
	guest  []byte         // the range to copy from and to
	input  bool
}

func (b *binding) close() error {
	b.region.Close()
	return b.own.Close()
}

// errPending: a request whose run of start is pending.
var errPending = fmt.Errorf("%w: wait for the run first", CodeBusy)

func requestOpen(_ context.Context, g *Guest, o *program, _ []uint64) (int, error) {
	handle, err := g.add(&request{program: o, bindings: map[string]*binding{}})
	if err == nil {
		o.requests++
	}
	return handle, err
}

// port returns the layout of an input or output that can be bound now.
func (r *request) port(name string) (l ane.Layout, input bool, err error) {
	if r.run != nil {
		return l, false, errPending
	}
	return r.program.port(name)
}

// bindRange makes the tensor of an input or output on a range of the guest's memory.
func bindRange(_ context.Context, g *Guest, r *request, p []uint64) (int, error) {
	name, err := g.name(p[1], p[2])
	if err != nil {
		return 0, err
	}
	l, input, err := r.port(name)
	if err != nil {
		return 0, err
	}
	ptr, length := p[3], p[4]
	if need := uint64(l.Bytes()); length < need {
		return 0, fmt.Errorf("%w: %d bytes for %s, the tensor has %d", CodeShort, length, name, need)
	}
	if align := uint64(g.host.alignment()); ptr%align != 0 {
		return 0, fmt.Errorf("%w: pointer %d of %s is not a multiple of %d; use %d", CodeAligned, ptr, name, align,
			(ptr+align-1)/align*align)
	}
	b := &binding{input: input}
	if err := g.place(r, b, l, ptr, length); err != nil {
		return 0, errors.Join(err, b.close())
	}
	return 0, r.set(name, b)
}

// place makes the tensor of a binding.
func (g *Guest) place(r *request, b *binding, l ane.Layout, ptr, length uint64) (err error) {
	inPlace := g.host.device.Info().Offsets || g.host.config.copying
	if inPlace {
		b.region, err = g.memory.InPlace(ptr, length)
	} else if err = r.unbind(); err == nil { // the earlier request may hold a surface that is otherwise idle
		b.region, err = g.memory.OnSurface(ptr, length)
	}
	switch {
	case err != nil:
	case g.host.config.copying:
		side := r.program.Outputs()
		if b.input {
			side = r.program.Inputs()
		}
		if b.own, err = unimem.Open(r.program.SurfaceSize(l, side)); err != nil {
			return err
		}
		b.guest = g.memory.Block().Bytes()[ptr:][:l.Bytes()]
		b.tensor, err = ane.OnBlock(b.own, l)
	case inPlace:
		b.tensor, err = ane.OnRange(b.region.Block(), b.region.Offset(), l)
	default:
		b.tensor, err = ane.OnBlock(b.region.Block(), l)
	}
	return err
}

// set replaces a binding.
func (r *request) set(name string, b *binding) error {
	if err := r.unbind(); err != nil {
		return errors.Join(err, b.close())
	}
	var err error
	if old := r.bindings[name]; old != nil {
		err = old.close()
	}
	r.bindings[name] = b
	return err
}

// unbind closes the engine's request; the next run makes another one.
func (r *request) unbind() error {
	if r.bound == nil {
		return nil
	}
	err := r.bound.Close()
	if err == nil {
		r.bound = nil
	}
	return err
}

// prepare binds the tensors if they have changed, and copies the inputs of a copying Host.
func (g *Guest) prepare(r *request) error {
	if r.run != nil {
		return errPending
	}
	if r.bound == nil {
		in, out := map[string]*ane.Tensor{}, map[string]*ane.Tensor{}
		for name, b := range r.bindings {
			if b.input {
				in[name] = b.tensor
			} else {
				out[name] = b.tensor
			}
		}
		var err error
		if r.bound, err = r.program.Bind(in, out); err != nil {
			return err
		}
	}
	g.move(r, true)
	return nil
}

// move copies the inputs from the guest, or the outputs to it, in a copying Host.
func (g *Guest) move(r *request, inputs bool) {
	for b := range maps.Values(r.bindings) {
		switch {
		case b.own == nil || b.input != inputs:
		case inputs:
			g.AddCopied(int64(copy(b.tensor.Bytes(), b.guest)))
		default:
			g.AddCopied(int64(copy(b.guest, b.tensor.Bytes())))
		}
	}
}

// evaluate runs a request and waits for it.
func evaluate(ctx context.Context, g *Guest, r *request, _ []uint64) (int, error) {
	if err := g.prepare(r); err != nil {
		return 0, err
	}
	if _, err := r.bound.Evaluate(ctx); err != nil {
		return 0, err
	}
	g.move(r, false)
	return 0, nil
}

// start starts a run, which Limits.Time and the guest's end bound.
func start(_ context.Context, g *Guest, r *request, _ []uint64) (int, error) {
	if err := g.prepare(r); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(g.life, g.limits.Time)
	r.run, r.cancel = r.bound.EvaluateAsync(ctx), cancel
	return 0, nil
}

// wait waits for the run of start. If ctx ends first, the run stays pending.
func wait(ctx context.Context, g *Guest, r *request, _ []uint64) (int, error) {
	if r.run == nil {
		return 0, fmt.Errorf("%w: call start first", CodeBusy)
	}
	select {
	case o := <-r.run:
		r.cancel()
		r.run = nil
		if o.Err == nil {
			g.move(r, false)
		}
		return 0, o.Err
	case <-ctx.Done():
		return 0, fmt.Errorf("%w: %w", CodeDeadline, ctx.Err())
	}
}

func requestClose(_ context.Context, g *Guest, r *request, p []uint64) (int, error) {
	delete(g.objects, int32(p[0]))
	return 0, r.close()
}

// close cancels a run, waits until the engine is done with the tensors, and closes everything.
func (r *request) close() error {
	if r.run != nil {
		r.cancel()
		<-r.run
		r.run = nil
	}
	err := r.unbind()
	for _, b := range r.bindings {
		err = errors.Join(err, b.close())
	}
	clear(r.bindings)
	r.program.requests--
	return err
}
