package enginetest

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
)

// rig is a loaded program with a request on new tensors.
type rig struct {
	env     *env
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

// room makes a tensor on some kind of memory, and the guards around it. mutable is
// true if the tensor itself may change.
type room func(e *env, l ane.Layout, mutable bool) (*ane.Tensor, []guard)

// inBlock makes the tensor on a new Block that is longer than the tensor.
func inBlock(opts ...unimem.Option) room {
	return func(e *env, l ane.Layout, mutable bool) (*ane.Tensor, []guard) {
		b, err := unimem.Open(e.room(l)+ane.RowAlign, opts...)
		e.need(err, "memory")
		e.laterMemory(b.Close, "closing a Block")
		t, err := ane.OnBlock(b, l)
		e.need(err, "tensor on a Block")
		return t, []guard{around(t, mutable)}
	}
}

// inCell makes the tensor on a cell with its own surface, between two others.
func inCell(e *env, l ane.Layout, mutable bool) (*ane.Tensor, []guard) {
	g, err := unimem.NewGrid(e.room(l)+ane.RowAlign, 3, unimem.SurfacePerCell(), unimem.StaleOnClose())
	e.need(err, "memory")
	e.laterMemory(g.Close, "closing a Grid")
	var cells []unimem.Cell
	for range g.Total() {
		c, err := g.Take()
		e.need(err, "cell")
		cells = append(cells, c)
	}
	t, err := ane.OnCell(cells[1], l)
	e.need(err, "tensor on a cell")
	guards := []guard{around(t, mutable)}
	for _, i := range []int{0, 2} {
		guards = append(guards, guard{what: "another cell than that of " + l.Name, mem: cells[i].Block().Bytes()})
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
func (e *env) rig(m *ane.Model, p *program, where room) *rig {
	r := &rig{env: e, program: p, model: m}
	for _, l := range m.Inputs() {
		t, g := where(e, l, false)
		r.in, r.guards = append(r.in, t), append(r.guards, g...)
	}
	for _, l := range m.Outputs() {
		t, g := where(e, l, true)
		r.out, r.guards = append(r.out, t), append(r.guards, g...)
	}
	for i := range r.guards {
		junk(r.guards[i].mem)
	}
	var err error
	r.request, err = m.Bind(named(r.in), named(r.out))
	e.need(err, "bind "+p.name)
	e.later(r.request.Close, "closing the request")
	return r
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

// samples returns the inputs of run seed.
func (p *program) samples(seed int) [][]float64 {
	in := make([][]float64, len(p.in))
	for i, q := range p.in {
		in[i] = make([]float64, q.elements())
		for j := range in[i] {
			in[i][j] = sample(j+3*i, seed)
		}
	}
	return in
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

// evaluate runs once and checks the guards.
func (r *rig) evaluate(ctx context.Context) error {
	for i := range r.guards {
		r.guards[i].before = slices.Clone(r.guards[i].mem)
	}
	if _, err := r.model.Evaluate(ctx, r.request); err != nil {
		return err
	}
	for _, g := range r.guards {
		if g.touched() {
			return fmt.Errorf("the run changed %s", g.what)
		}
	}
	return nil
}

func (g guard) touched() bool {
	return !bytes.Equal(g.mem[:g.lo], g.before[:g.lo]) || !bytes.Equal(g.mem[g.hi:], g.before[g.hi:])
}

// verify compares the outputs with want, exactly; a NaN equals any NaN.
func (r *rig) verify(want [][]float64) error {
	if len(r.out) != len(want) {
		return fmt.Errorf("%d outputs, the text has %d", len(r.out), len(want))
	}
	for i, t := range r.out {
		got := make([]float32, t.Layout().Elements())
		if _, err := t.ReadFloat32(got); err != nil {
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
	if _, err := r.model.Evaluate(ctx, r.request); err != nil {
		return err
	}
	return r.verify(r.program.reference(in))
}

// must reports err with the given description.
func (e *env) must(err error, format string, args ...any) {
	if err != nil {
		e.errorf("%s: %v", fmt.Sprintf(format, args...), err)
	}
}

// kind is a room with its name for messages.
type kind struct {
	name string
	room room
}

// kinds returns the usual kinds of memory of tensors.
func kinds() []kind { return []kind{{"cells", inCell}, {"Blocks", inBlock()}} }
