package wasm

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
	linear "github.com/anekit/anekit/unimem/wasm"
)

// program is a program that a guest has opened.
type program struct {
	*model
	users int // requests
}

// port returns the layout of an input or output.
func (p *program) port(op, name string) (l ane.Layout, input bool, err error) {
	if l, err = p.Model.Input(name); err == nil {
		return l, true, nil
	}
	if l, err = p.Model.Output(name); err == nil {
		return l, false, nil
	}
	return l, false, &Error{Op: op, Name: name, Code: CodeName, Err: CodeName, Cause: err}
}

// cache is a cache of a guest.
type cache struct {
	*kv.Cache
	bytes int
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

// request is a request of a guest.
type request struct {
	program  *program
	bindings map[string]*binding
	bound    *ane.Request       // nil until the next run
	run      <-chan ane.Outcome // of start, nil when none is pending
	cancel   context.CancelFunc
}

// bind makes the tensor of an input or output on a range of the guest's memory.
func (g *Guest) bind(r *request, name string, ptr, length uint64) error {
	const op = "bind"
	l, input, err := r.program.port(op, name)
	if err != nil {
		return err
	}
	if r.run != nil {
		return &Error{Op: op, Name: name, Code: CodeBusy, Err: CodeBusy, Hint: "wait for the run first"}
	}
	if need := uint64(l.Bytes()); length < need {
		return &Error{Op: op, Name: name, Code: CodeShort, Err: CodeShort,
			Detail: fmt.Sprintf("%d bytes, the tensor has %d", length, need)}
	}
	if align := uint64(g.host.Alignment()); ptr%align != 0 {
		return &Error{Op: op, Name: name, Code: CodeAligned, Err: CodeAligned,
			Detail: fmt.Sprintf("pointer %d is not a multiple of %d", ptr, align),
			Hint:   fmt.Sprintf("use %d", (ptr+align-1)/align*align)}
	}
	fresh := &binding{input: input}
	if err := g.place(r, fresh, l, ptr, length); err != nil {
		return errors.Join(err, fresh.close())
	}
	return r.set(name, fresh)
}

// place makes the tensor of a binding.
func (g *Guest) place(r *request, b *binding, l ane.Layout, ptr, length uint64) (err error) {
	switch {
	case g.host.config.copying:
		if b.region, err = g.memory.InPlace(ptr, length); err != nil {
			return err
		}
		side := r.program.Outputs()
		if b.input {
			side = r.program.Inputs()
		}
		if b.own, err = unimem.Open(r.program.SurfaceSize(l, side)); err != nil {
			return err
		}
		b.guest = g.memory.Block().Bytes()[ptr:][:l.Bytes()]
		b.tensor, err = ane.OnBlock(b.own, l)
	case g.host.device.Info().Offsets:
		if b.region, err = g.memory.InPlace(ptr, length); err != nil {
			return err
		}
		b.tensor, err = ane.OnRange(b.region.Block(), b.region.Offset(), l)
	default:
		// The earlier request may hold a surface that is otherwise idle.
		if err = r.unbind(); err != nil {
			return err
		}
		if b.region, err = g.memory.OnSurface(ptr, length); err != nil {
			return err
		}
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
func (g *Guest) prepare(op string, r *request) error {
	if r.run != nil {
		return &Error{Op: op, Code: CodeBusy, Err: CodeBusy, Hint: "wait for the run first"}
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
		if r.bound, err = r.program.Model.Bind(in, out); err != nil {
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
func (g *Guest) evaluate(ctx context.Context, r *request) error {
	if err := g.prepare("evaluate", r); err != nil {
		return err
	}
	if _, err := r.bound.Evaluate(ctx); err != nil {
		return err
	}
	g.move(r, false)
	return nil
}

// start starts a run, which Limits.Time and the guest's end bound.
func (g *Guest) start(r *request) error {
	if err := g.prepare("start", r); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(g.life, g.limits.Time)
	r.run, r.cancel = r.bound.EvaluateAsync(ctx), cancel
	return nil
}

// wait waits for the run of start. If ctx ends first, the run stays pending.
func (g *Guest) wait(ctx context.Context, r *request) error {
	if r.run == nil {
		return &Error{Op: "wait", Code: CodeBusy, Err: CodeBusy, Hint: "call start first"}
	}
	select {
	case o := <-r.run:
		r.cancel()
		r.run = nil
		if o.Err == nil {
			g.move(r, false)
		}
		return o.Err
	case <-ctx.Done():
		return &Error{Op: "wait", Code: CodeDeadline, Err: CodeDeadline, Cause: ctx.Err()}
	}
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
	r.program.users--
	return err
}

// openCache makes a cache within the limits.
func (g *Guest) openCache(layers, heads, dim, tokens uint32) (int32, error) {
	const op = "cache_open"
	// Keys and values of a layer are surfaces of their own, of whole pages.
	surface := 2 * float64(heads) * float64(dim) * (float64(tokens) + kv.Step)
	bytes := 2 * float64(layers) * max(surface, unimem.PageSize)
	if bytes > float64(g.limits.Caches-g.caches) {
		return 0, &Error{Op: op, Code: CodeLimit, Err: CodeLimit,
			Detail: fmt.Sprintf("%.0f bytes, %d are left", bytes, g.limits.Caches-g.caches)}
	}
	made, err := kv.New(kv.Config{Layers: int(layers), Heads: int(heads), HeadDim: int(dim), Context: int(tokens),
		DType: mil.FP16})
	if err != nil {
		return 0, err
	}
	c := &cache{made, max(made.Bytes(), 2*int(layers)*unimem.PageSize)}
	handle, err := g.add(op, c)
	if err != nil {
		return 0, errors.Join(err, made.Close())
	}
	g.caches += c.bytes
	return handle, nil
}
