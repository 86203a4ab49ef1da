package trial

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/models"
	"github.com/anekit/anekit/unimem"
)

// pattern fills the bytes that belong to no tensor. A byte that changes shows that the engine wrote
// outside of its tensors.
const pattern = 0xA5

// slack is the least number of bytes of a cell after its tensor.
const slack = 256

// Rig is one program, loaded and bound to its own Grid cells.
type Rig struct {
	Model         *ane.Model
	Request       *ane.Request
	In, Out       map[string]*ane.Tensor
	Compile, Load time.Duration

	grid   *unimem.Grid
	cells  []unimem.Cell
	guards []unimem.Cell // before and after the cells of the tensors
}

// NewRig compiles and loads a program and binds it to Grid cells.
func NewRig(ctx context.Context, d *ane.Device, src ane.Source) (*Rig, error) {
	r := &Rig{In: map[string]*ane.Tensor{}, Out: map[string]*ane.Tensor{}}
	if err := r.build(ctx, d, src); err != nil {
		return nil, errors.Join(err, r.Close(context.WithoutCancel(ctx)))
	}
	return r, nil
}

func (r *Rig) build(ctx context.Context, d *ane.Device, src ane.Source) (err error) {
	start := time.Now()
	if r.Model, err = d.Compile(ctx, src); err != nil {
		return err
	}
	r.Compile = time.Since(start)
	start = time.Now()
	if err = r.Model.Load(ctx); err != nil {
		return err
	}
	r.Load = time.Since(start)
	in, out := r.Model.Inputs(), r.Model.Outputs()
	size := 0
	for _, l := range slices.Concat(in, out) {
		size = max(size, r.Model.SurfaceSize(l, nil))
	}
	size = (size + slack + 63) / 64 * 64
	if r.grid, err = unimem.NewGrid(size, len(in)+len(out)+2, unimem.SurfacePerCell()); err != nil {
		return err
	}
	guard, err := r.take()
	if err != nil {
		return err
	}
	r.guards = append(r.guards, guard)
	if err := r.place(in, r.In); err != nil {
		return err
	}
	if err := r.place(out, r.Out); err != nil {
		return err
	}
	if guard, err = r.take(); err != nil {
		return err
	}
	r.guards = append(r.guards, guard)
	r.Request, err = r.Model.Bind(r.In, r.Out)
	return err
}

// take takes a cell.
func (r *Rig) take() (unimem.Cell, error) {
	c, err := r.grid.Take()
	if err == nil {
		r.cells = append(r.cells, c)
	}
	return c, err
}

// Paint fills every byte of every cell with the pattern, so that Strays finds writes outside of the
// tensors.
func (r *Rig) Paint() {
	for _, c := range r.cells {
		b := c.Bytes()
		for i := range b {
			b[i] = pattern
		}
	}
}

// place lays each tensor on a cell.
func (r *Rig) place(layouts []ane.Layout, named map[string]*ane.Tensor) error {
	for _, l := range layouts {
		c, err := r.take()
		if err != nil {
			return err
		}
		if named[l.Name], err = ane.OnCell(c, l); err != nil {
			return err
		}
	}
	return nil
}

// modelRig is NewRig for a model. It fails if the engine reports other names of inputs and outputs than
// the program has.
func modelRig(ctx context.Context, d *ane.Device, m models.Model) (*Rig, error) {
	p := m.Program
	r, err := NewRig(ctx, d, ane.Source{File: m.Name + ".mil", Program: p, Weights: m.Weights})
	if err != nil {
		return nil, err
	}
	var want, got []string
	for _, v := range p.Funcs[0].Params {
		want = append(want, v.Name)
	}
	for _, v := range p.Funcs[0].Results {
		want = append(want, v.Name)
	}
	for _, l := range slices.Concat(r.Model.Inputs(), r.Model.Outputs()) {
		got = append(got, l.Name)
	}
	if !slices.Equal(got, want) {
		err := fmt.Errorf("the engine reports inputs and outputs %v, the program has %v", got, want)
		return nil, errors.Join(err, r.Close(context.WithoutCancel(ctx)))
	}
	return r, nil
}

// Fill writes the inputs of m for a seed and returns them.
func (r *Rig) Fill(m models.Model, seed uint64) (map[string][]float64, error) {
	values := map[string][]float64{}
	for name, t := range r.In {
		v := m.Input(name, t.Layout().Elements(), seed)
		if err := write(t, v); err != nil {
			return nil, err
		}
		values[name] = v
	}
	return values, nil
}

// write writes the elements of a tensor.
func write(t *ane.Tensor, values []float64) error {
	single := make([]float32, len(values))
	for i, v := range values {
		single[i] = float32(v)
	}
	_, err := t.WriteFloat32(single)
	return err
}

// Compare compares the outputs with the reference of m. It returns the largest error and a description
// of the first value that is out of tolerance.
func (r *Rig) Compare(m models.Model, in map[string][]float64) (worst float64, fault string, err error) {
	want := m.Reference(in)
	for _, l := range r.Model.Outputs() {
		got := make([]float32, l.Elements())
		if _, err := r.Out[l.Name].ReadFloat32(got); err != nil {
			return 0, "", err
		}
		if len(want[l.Name]) != len(got) {
			return math.Inf(1), fmt.Sprintf("%s has %d values, the reference %d", l.Name, len(got),
				len(want[l.Name])), nil
		}
		for i, g := range got {
			w := want[l.Name][i]
			diff := math.Abs(float64(g) - w)
			if math.IsNaN(diff) {
				diff = math.Inf(1)
			}
			worst = max(worst, diff)
			if fault == "" && !m.Tolerance.Allows(float64(g), w) {
				fault = fmt.Sprintf("%s[%d] is %v, the reference %.6g", l.Name, i, g, w)
			}
		}
	}
	return worst, fault, nil
}

// page is the smallest unit in which memory can be shared. Some systems have larger pages.
const page = 4096

// Unshared counts the bytes of the bound tensors that the engine does not reach in place: for every
// page of every tensor it changes a byte through one view and reads it through the other, both ways.
// shown is false if the engine does not expose its view. No evaluation may be in flight.
func (r *Rig) Unshared(ctx context.Context) (bytes int, shown bool) {
	shown = true
	probe := func(t *ane.Tensor, input bool) {
		mem, engine := local(t.Bytes()), engineSide(ctx, r.Request, t, input)
		if engine == nil || engine.size() < len(mem) {
			shown = shown && engine != nil
			bytes += len(mem)
			return
		}
		for at := 0; at < len(mem); at += page {
			if !sharesByte(mem, engine, at) || !sharesByte(engine, mem, at) {
				bytes += min(page, len(mem)-at)
			}
		}
	}
	for _, t := range r.In {
		probe(t, true)
	}
	for _, t := range r.Out {
		probe(t, false)
	}
	return bytes, shown
}

// TensorBytes is the size of all bound tensors.
func (r *Rig) TensorBytes() int {
	n := 0
	for _, named := range []map[string]*ane.Tensor{r.In, r.Out} {
		for _, t := range named {
			n += len(t.Bytes())
		}
	}
	return n
}

// Strays counts the bytes in guard cells and after tensors that changed since Paint.
func (r *Rig) Strays() int {
	n := 0
	for _, g := range r.guards {
		n += strays(g.Bytes())
	}
	for _, named := range []map[string]*ane.Tensor{r.In, r.Out} {
		for _, t := range named {
			n += strays(t.Block().Bytes()[t.Offset()+len(t.Bytes()) : t.Offset()+r.grid.CellSize()])
		}
	}
	return n
}

func strays(b []byte) int {
	n := 0
	for _, v := range b {
		if v != pattern {
			n++
		}
	}
	return n
}

// Snapshot returns a copy of every input's bytes, padding included.
func (r *Rig) Snapshot() map[string][]byte {
	s := map[string][]byte{}
	for name, t := range r.In {
		s[name] = slices.Clone(t.Bytes())
	}
	return s
}

// Close closes the request, the model and the grid, in this order.
func (r *Rig) Close(ctx context.Context) error {
	var errs []error
	if r.Request != nil {
		errs = append(errs, r.Request.Close())
	}
	if r.Model != nil {
		errs = append(errs, r.Model.Close(ctx))
	}
	for _, c := range r.cells {
		errs = append(errs, r.grid.Give(c))
	}
	r.cells = nil
	if r.grid != nil {
		errs = append(errs, r.grid.Close())
	}
	return errors.Join(errs...)
}
