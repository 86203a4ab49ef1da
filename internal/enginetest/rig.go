package enginetest

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem"
)

// rig is a loaded program with a request on new tensors.
type rig struct {
	program *program
	model   *ane.Model
	in, out []*ane.Tensor // in the order of the program
	request *ane.Request
	guards  []guard
}

// guard is memory of which only the bytes [lo, hi) may change.
type guard struct {
	what   string
	mem    []byte
	before []byte
	lo, hi int
}

// memory makes a tensor on one kind of memory, and the guards around it. mutable is
// true if the tensor itself may change.
type memory func(e *env, l ane.Layout, mutable bool) (*ane.Tensor, []guard)

// kinds returns the usual kinds of memory of tensors, by their names for messages.
func kinds() map[string]memory { return map[string]memory{"cells": inCell, "Blocks": inBlock()} }

// inBlock makes the tensor on a new Block that is longer than the tensor.
func inBlock(opts ...unimem.Option) memory {
	return func(e *env, l ane.Layout, mutable bool) (*ane.Tensor, []guard) {
		b := step.Must(unimem.Open(max(l.Bytes(), e.least)+ane.RowAlign, opts...))
		e.Closing(b.Close)
		t := step.Must(ane.OnBlock(b, l))
		return t, []guard{around(t, mutable)}
	}
}

// tensor makes a tensor on a new Block.
func (e *env) tensor(l ane.Layout) *ane.Tensor {
	t, _ := inBlock()(e, l, true)
	return t
}

// inCell makes the tensor on a cell with its own surface, between two others.
func inCell(e *env, l ane.Layout, mutable bool) (*ane.Tensor, []guard) {
	g := step.Must(unimem.NewGrid(max(l.Bytes(), e.least)+ane.RowAlign, 3, unimem.SurfacePerCell(),
		unimem.StaleOnClose()))
	e.Closing(g.Close)
	var t *ane.Tensor
	var guards []guard
	for i := range g.Total() {
		c := step.Must(g.Take())
		if i == 1 {
			t = step.Must(ane.OnCell(c, l))
			guards = append(guards, around(t, mutable))
		} else {
			guards = append(guards, guard{what: "another cell than that of " + l.Name, mem: c.Block().Bytes()})
		}
	}
	return t, guards
}

// around guards the surface of t.
func around(t *ane.Tensor, mutable bool) guard {
	g := guard{what: "the surface of " + t.Layout().Name, mem: t.Block().Bytes()}
	if mutable {
		g.what = "the surface around " + t.Layout().Name
		g.lo, g.hi = t.Offset(), t.Offset()+t.Layout().Bytes()
	}
	return g
}

// rig binds p, loaded as m, to new memory.
func (e *env) rig(m *ane.Model, p *program, where memory) *rig {
	r := &rig{program: p, model: m}
	for _, l := range m.Inputs() {
		t, g := where(e, l, false)
		r.in, r.guards = append(r.in, t), append(r.guards, g...)
	}
	for _, l := range m.Outputs() {
		t, g := where(e, l, true)
		r.out, r.guards = append(r.out, t), append(r.guards, g...)
	}
	for _, g := range r.guards {
		junk(g.mem)
	}
	r.request = step.Must(m.Bind(named(r.in), named(r.out)))
	e.Closing(r.request.Close)
	return r
}

// fresh compiles and loads p, and binds it to new memory.
func (e *env) fresh(d *ane.Device, p *program, where memory) *rig {
	return e.rig(e.loaded(d, p), p, where)
}

// junk fills memory with finite fp16 numbers that are not samples.
func junk(mem []byte) {
	for i := range mem {
		mem[i] = byte(0x81 + i%97)
	}
}

// named maps tensors by name.
func named(tensors []*ane.Tensor) map[string]*ane.Tensor {
	m := map[string]*ane.Tensor{}
	for _, t := range tensors {
		m[t.Layout().Name] = t
	}
	return m
}

// fill writes the inputs.
func (r *rig) fill(in [][]float64) error {
	if len(r.in) != len(in) {
		return fmt.Errorf("%d inputs, the text has %d", len(r.in), len(in))
	}
	for i, t := range r.in {
		f := make([]float32, len(in[i]))
		for j, v := range in[i] {
			f[j] = float32(v)
		}
		if _, err := t.WriteFloat32(f); err != nil {
			return err
		}
	}
	return nil
}

// run evaluates once.
func (r *rig) run(ctx context.Context) error {
	_, err := r.model.Evaluate(ctx, r.request)
	return err
}

// watched evaluates once and checks the guards.
func (r *rig) watched(ctx context.Context) error {
	for i := range r.guards {
		r.guards[i].before = slices.Clone(r.guards[i].mem)
	}
	if err := r.run(ctx); err != nil {
		return err
	}
	for _, g := range r.guards {
		if !bytes.Equal(g.mem[:g.lo], g.before[:g.lo]) || !bytes.Equal(g.mem[g.hi:], g.before[g.hi:]) {
			return fmt.Errorf("the run changed %s", g.what)
		}
	}
	return nil
}

// verify compares the outputs with want, exactly; a NaN equals any NaN.
func (r *rig) verify(want [][]float64) error {
	if len(r.out) != len(want) {
		return fmt.Errorf("%d outputs, the text has %d", len(r.out), len(want))
	}
	for i, t := range r.out {
		got, err := t.Float32s()
		if err != nil {
			return err
		}
		if len(got) != len(want[i]) {
			return fmt.Errorf("output %s has %d elements, want %d", t.Layout().Name, len(got), len(want[i]))
		}
		for j, v := range got {
			w := float32(want[i][j])
			if math.Float32bits(v) != math.Float32bits(w) && !(v != v && w != w) && !(v == 0 && w == 0) {
				return fmt.Errorf("%s: element %d of output %s is %v, want %v", r.program.name, j, t.Layout().Name, v,
					w)
			}
		}
	}
	return nil
}

// round fills, runs and verifies with the samples of seed. It does not check the guards,
// which have separate checks.
func (r *rig) round(ctx context.Context, seed int) error {
	in := r.program.samples(seed)
	if err := r.fill(in); err != nil {
		return err
	}
	if err := r.run(ctx); err != nil {
		return err
	}
	return r.verify(r.program.reference(in))
}
