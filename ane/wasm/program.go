package wasm

import (
	"context"
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
)

// model is a loaded program that guests share while one has it open.
type model struct {
	*ane.Model // nil until it is loaded
	key        string
	users      int           // programs of guests; Host.mu guards it
	loading    chan struct{} // holds one value while a guest loads
}

// open returns the loaded model of a program. The caller calls drop.
func (h *Host) open(ctx context.Context, key string, src ane.Source) (*model, error) {
	h.mu.Lock()
	m := h.models[key]
	if m == nil {
		m = &model{key: key, loading: make(chan struct{}, 1)}
		h.models[key] = m
	}
	m.users++
	h.mu.Unlock()
	if err := m.load(ctx, h.device, src); err != nil {
		return nil, errors.Join(err, h.drop(ctx, m))
	}
	return m, nil
}

// load loads the model unless it is loaded. While another guest loads it, load waits: that guest's time may end first.
func (m *model) load(ctx context.Context, d *ane.Device, src ane.Source) error {
	select {
	case m.loading <- struct{}{}:
		defer func() { <-m.loading }()
	case <-ctx.Done():
		return ane.Deadline("open", d.Info().Name, ctx.Err())
	}
	if m.Model != nil {
		return nil
	}
	compiled, err := d.Compile(ctx, src)
	if err != nil {
		return err
	}
	if err := compiled.Load(ctx); err != nil {
		return errors.Join(err, compiled.Close(context.WithoutCancel(ctx)))
	}
	m.Model = compiled
	return nil
}

// drop ends one use of a model; the last one closes it.
func (h *Host) drop(ctx context.Context, m *model) error {
	h.mu.Lock()
	m.users--
	last := m.users == 0
	if last {
		delete(h.models, m.key)
	}
	h.mu.Unlock()
	if !last || m.Model == nil {
		return nil
	}
	return m.Model.Close(context.WithoutCancel(ctx))
}

// program is a program that a guest has opened.
type program struct {
	*model
	requests int
}

func programOpen(ctx context.Context, g *Guest, p []uint64) (int, error) {
	name, err := g.name(p[0], p[1])
	if err != nil {
		return 0, err
	}
	src, ok := g.host.config.programs[name]
	if !ok {
		return 0, fmt.Errorf("%w: no program %q; the host names the programs", CodeName, name)
	}
	return g.open(ctx, "name "+name, src)
}

func programCompile(ctx context.Context, g *Guest, p []uint64) (int, error) {
	if g.limits.Text < 0 {
		return 0, fmt.Errorf("%w: open a program of the host", CodeUnsupported)
	}
	text, err := g.text(p[0], p[1], g.limits.Text)
	if err != nil {
		return 0, err
	}
	return g.open(ctx, "text "+text, ane.Source{File: "guest.mil", Text: []byte(text)})
}

// open opens a program: the handle first, so that a guest at its limit compiles nothing.
func (g *Guest) open(ctx context.Context, key string, src ane.Source) (int, error) {
	opened := &program{}
	handle, err := g.add(opened)
	if err != nil {
		return 0, err
	}
	if opened.model, err = g.host.open(ctx, key, src); err != nil {
		delete(g.objects, int32(handle))
		return 0, err
	}
	return handle, nil
}

func programClose(ctx context.Context, g *Guest, o *program, p []uint64) (int, error) {
	if o.requests > 0 {
		return 0, fmt.Errorf("%w: %d requests use it; close them first", CodeBusy, o.requests)
	}
	delete(g.objects, int32(p[0]))
	return 0, g.host.drop(ctx, o.model)
}

// port returns the layout of an input or output.
func (o *program) port(name string) (l ane.Layout, input bool, err error) {
	if l, err = o.Input(name); err == nil {
		return l, true, nil
	}
	l, err = o.Output(name)
	return l, false, err
}

// named returns the layout of the input or output that the guest names.
func (g *Guest) named(o *program, p []uint64) (ane.Layout, error) {
	name, err := g.name(p[1], p[2])
	if err != nil {
		return ane.Layout{}, err
	}
	l, _, err := o.port(name)
	return l, err
}

func tensorBytes(_ context.Context, g *Guest, o *program, p []uint64) (int, error) {
	l, err := g.named(o, p)
	if err == nil && l.Bytes() > 1<<31-1 {
		err = fmt.Errorf("%w: %s has %d bytes", CodeLimit, l.Name, l.Bytes())
	}
	return l.Bytes(), err
}

func tensorStride(_ context.Context, g *Guest, o *program, p []uint64) (int, error) {
	l, err := g.named(o, p)
	if err != nil {
		return 0, err
	}
	strides := []int{l.BatchStride, l.PlaneStride, l.DepthStride, l.RowStride, l.DType.Size()}
	if axis := p[3]; axis < uint64(len(strides)) && strides[axis] < 1<<31 {
		return strides[axis], nil
	}
	return 0, fmt.Errorf("%w: axis %d of %s; 0 to 4 are N, C, D, H, W", CodeArgument, p[3], l.Name)
}
