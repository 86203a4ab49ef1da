package trial

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/step"
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

	t       *step.T
	tensors []*ane.Tensor // inputs, then outputs
	cells   []unimem.Cell // of the tensors in their order, between two guards
}

// NewRig compiles and loads a program and binds it to Grid cells, until the end of a step.
func NewRig(t *step.T, d *ane.Device, src ane.Source) *Rig {
	r := &Rig{In: map[string]*ane.Tensor{}, Out: map[string]*ane.Tensor{}, t: t}
	r.Model, r.Compile, r.Load = load(t, d, src)
	layouts := slices.Concat(r.Model.Inputs(), r.Model.Outputs())
	size := 0
	for _, l := range layouts {
		size = max(size, r.Model.SurfaceSize(l, nil))
	}
	size = (size + slack + 63) / 64 * 64
	grid := Must(unimem.NewGrid(size, len(layouts)+2, unimem.SurfacePerCell()))
	t.Closing(grid.Close)
	for range grid.Total() {
		c := Must(grid.Take())
		t.Closing(func() error { return grid.Give(c) })
		r.cells = append(r.cells, c)
	}
	for i, l := range layouts {
		tensor, side := Must(ane.OnCell(r.cells[1+i], l)), r.Out
		if i < len(r.Model.Inputs()) {
			side = r.In
		}
		r.tensors, side[l.Name] = append(r.tensors, tensor), tensor
	}
	r.Request = Must(r.Model.Bind(r.In, r.Out))
	t.Closing(func() error { return r.Request.Close() })
	return r
}

// rig makes a Rig of a model. It fails if the engine reports other names of inputs and outputs than the program has.
func (t *T) rig(d *ane.Device, m models.Model) *Rig {
	r := NewRig(&t.T, d, Source(m))
	var want, got []string
	for _, v := range m.Program.Funcs[0].Params {
		want = append(want, v.Name)
	}
	for _, v := range m.Program.Funcs[0].Results {
		want = append(want, v.Name)
	}
	for _, t := range r.tensors {
		got = append(got, t.Layout().Name)
	}
	if !slices.Equal(got, want) {
		NoError(fmt.Errorf("the engine reports inputs and outputs %v, the program has %v", got, want))
	}
	return r
}

// identity is the model whose output is its input.
func identity() models.Model { return Must(models.All())[0] }

// Source is the source of a model.
func Source(m models.Model) ane.Source {
	return ane.Source{File: m.Name + ".mil", Program: m.Program, Weights: m.Weights}
}

// Paint fills every byte of every cell with the pattern, so that strays finds writes outside of the
// tensors.
func (r *Rig) Paint() {
	for _, c := range r.cells {
		b := c.Bytes()
		for i := range b {
			b[i] = pattern
		}
	}
}

// strays counts the bytes in guards and after tensors that changed since Paint.
func (r *Rig) strays() (n int) {
	for i, c := range r.cells {
		used := 0
		if 0 < i && i <= len(r.tensors) {
			used = len(r.tensors[i-1].Bytes())
		}
		for _, v := range c.Bytes()[used:] {
			if v != pattern {
				n++
			}
		}
	}
	return n
}

// round writes the inputs of m for a seed, evaluates, and compares the outputs with the reference. It returns the
// largest error, the first value that is out of tolerance, and how many bytes of inputs the evaluation changed.
func (r *Rig) round(m models.Model, seed uint64) (worst float64, fault string, changed int) {
	values, before := map[string][]float64{}, map[string][]byte{}
	for name, t := range r.In {
		values[name] = m.Input(name, t.Layout().Elements(), seed)
		write(t, values[name])
		before[name] = slices.Clone(t.Bytes())
	}
	Must(r.Request.Evaluate(r.t.Ctx))
	want := m.Reference(values)
	for _, l := range r.Model.Outputs() {
		off, wrong := compare(l.Name, r.Out[l.Name], want[l.Name], m.Tolerance)
		worst, fault = max(worst, off), cmp.Or(fault, wrong)
	}
	for name, t := range r.In {
		changed += differences(t.Bytes(), before[name])
	}
	return worst, fault, changed
}

// write writes the elements of a tensor.
func write(t *ane.Tensor, values []float64) {
	single := make([]float32, len(values))
	for i, v := range values {
		single[i] = float32(v)
	}
	Must(t.WriteFloat32(single))
}

// compare compares a tensor with the reference. It returns the largest error and a description of the first value that
// is out of tolerance.
func compare(name string, t *ane.Tensor, want []float64, allowed models.Tolerance) (worst float64, fault string) {
	got := make([]float32, t.Layout().Elements())
	Must(t.ReadFloat32(got))
	if len(want) != len(got) {
		return math.Inf(1), fmt.Sprintf("%s has %d values, the reference %d", name, len(got), len(want))
	}
	for i, g := range got {
		diff := math.Abs(float64(g) - want[i])
		if math.IsNaN(diff) {
			diff = math.Inf(1)
		}
		worst = max(worst, diff)
		if fault == "" && !allowed.Allows(float64(g), want[i]) {
			fault = fmt.Sprintf("%s[%d] is %v, the reference %.6g", name, i, g, want[i])
		}
	}
	return worst, fault
}

// differences counts the bytes that differ.
func differences(a, b []byte) (n int) {
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// Unshared counts the bytes of the bound tensors that the engine does not reach in place. For every page of every
// tensor it changes a byte through one view and reads it through the other, both ways. shown is false if the engine
// does not expose its view. No evaluation may be in flight.
func (r *Rig) Unshared(ctx context.Context) (bytes int, shown bool) {
	shown = true
	for i, t := range r.tensors {
		engine := engineSide(r.Request, t, i < len(r.In))
		if engine == nil {
			shown, engine = false, new(view)
		}
		bytes += apart(local(t.Bytes()), engine)
	}
	return bytes, shown
}

// bytes is the size of all bound tensors.
func (r *Rig) bytes() (n int) {
	for _, t := range r.tensors {
		n += len(t.Bytes())
	}
	return n
}

// Surface is how a tensor lies on its surface: rows of values, each followed by padding, then the rest of the surface.
type Surface struct {
	Tensor    string `json:"tensor"`
	Side      string `json:"side"` // input or output
	DType     string `json:"dtype"`
	Shape     []int  `json:"shape"`
	Rows      int    `json:"rows"`
	RowBytes  int    `json:"row_bytes"`     // values of a row
	RowStride int    `json:"row_stride"`    // from a row to the next
	Values    int    `json:"value_bytes"`   // of all rows
	Tensors   int    `json:"tensor_bytes"`  // values and the padding between them
	Bytes     int    `json:"surface_bytes"` // of the memory that the engine maps
}

// Surfaces describes the tensors of the Rig, inputs first.
func (r *Rig) Surfaces() []Surface {
	all := []Surface{}
	for _, t := range r.tensors {
		l, side := t.Layout(), "output"
		if t == r.In[l.Name] {
			side = "input"
		}
		all = append(all, Surface{Tensor: l.Name, Side: side, DType: l.DType.String(), Shape: append([]int{}, l.Shape...),
			Rows: l.Rows(), RowBytes: l.RowBytes(), RowStride: l.RowStride, Values: l.PackedBytes(), Tensors: l.Bytes(),
			Bytes: len(t.Block().Bytes())})
	}
	return all
}
