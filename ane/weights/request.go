package weights

import (
	"context"
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// Binding is where an input of a Request lies.
type Binding string

// Where an input of a Request lies.
const (
	Bound  Binding = "bound"  // a view of the mapped or loaded file: nothing was copied
	Copied Binding = "copied" // in memory of its own, copied or converted once
	Open   Binding = "open"   // in new memory: no tensor belongs to it
)

// Placement is where an input lies.
type Placement struct {
	Input, Tensor string
	Binding       Binding
	Moved         int64  // bytes copied or converted
	Why           string // the reason for a copy
}

// Bindings is a request whose inputs are tensors of a safetensors file.
type Bindings struct {
	*ane.Request
	placements []Placement
	own        []*unimem.Block
}

// Placements returns where each input lies, in the order of the program.
func (b *Bindings) Placements() []Placement { return append([]Placement(nil), b.placements...) }

// Moved is the number of bytes copied or converted.
func (b *Bindings) Moved() (n int64) {
	for _, p := range b.placements {
		n += p.Moved
	}
	return n
}

// Close closes the request, then its memory. Errors are those of ane.Request.Close and unimem.CloseAll.
func (b *Bindings) Close() error {
	if err := b.Request.Close(); err != nil {
		return err
	}
	return unimem.CloseAll(b.own...)
}

// Request loads m and makes a request of it. Every input to which names gives a tensor of f is bound where the tensor
// lies, if the engine permits that. That takes a layout without padding, and a tensor at byte 0 of a surface, as in a
// file that is aligned to unimem.PageSize. With Info.Offsets a tensor at any multiple of ane.RowAlign serves. Otherwise
// its bytes are copied once to memory of its own, also if the engine refuses files, as a broker does. Other inputs, and
// outputs, get new memory, with opts. A nil Names gives an input the tensor of its name, if f has one.
//
// The caller closes the Bindings before f. f.Close returns unimem.ErrInUse before, if a view of
// f's own mapping is bound.
//
// Errors: those of Of, of ane.Model.NewRequest, and of safetensors.Tensor.CopyTo.
func Request(ctx context.Context, d *ane.Device, m *ane.Model, f *safetensors.File, names Names,
	opts ...unimem.Option) (*Bindings, error) {
	if err := m.Load(ctx); err != nil {
		return nil, err
	}
	plan, err := planOf(m, f, names)
	if err != nil {
		return nil, err
	}
	made, err := plan.bind(d.Info().Offsets, opts)
	if err != nil && plan.viewed && refused(err) {
		plan.refusal = err
		made, err = plan.bind(false, opts)
	}
	return made, err
}

// refused reports whether an engine has refused views of a file.
func refused(err error) bool {
	return errors.Is(err, unimem.ErrShare) || errors.Is(err, ane.ErrOffset) || errors.Is(err, unimem.ErrCreate)
}

// plan is the wish of a Request.
type plan struct {
	m       *ane.Model
	inputs  []input
	viewed  bool  // a view was bound
	refusal error // of the engine, after which everything is copied
}

type input struct {
	layout ane.Layout
	tensor safetensors.Tensor
	has    bool
	halves bool
}

func planOf(m *ane.Model, f *safetensors.File, names Names) (*plan, error) {
	p := &plan{m: m}
	var faults []error
	for _, l := range m.Inputs() {
		in := input{layout: l}
		if as := names.of(l.Name); as != "" {
			t, err := f.Tensor(as)
			switch {
			case err == nil:
				in.tensor, in.has = t, true
				if in.halves, err = fit("bind weights", l.Name, t, l.DType, l.Shape); err != nil {
					faults = append(faults, err)
				}
			case names != nil || !errors.Is(err, safetensors.ErrName):
				faults = append(faults, &ane.Error{Op: "bind weights", Name: l.Name, Err: err})
			}
		}
		p.inputs = append(p.inputs, in)
	}
	return p, errors.Join(faults...)
}

// bind makes the tensors and the request. After an error nothing is open.
func (p *plan) bind(offsets bool, opts []unimem.Option) (made *Bindings, err error) {
	b := &Bindings{}
	defer func() {
		if err != nil {
			err = errors.Join(err, unimem.CloseAll(b.own...))
		}
	}()
	in, out := map[string]*ane.Tensor{}, map[string]*ane.Tensor{}
	for _, i := range p.inputs {
		place := Placement{Input: i.layout.Name, Binding: Open}
		if i.has {
			place.Tensor, place.Binding = i.tensor.Name(), Bound
			if in[i.layout.Name], place.Why = p.view(b, i, offsets); place.Why == "" {
				p.viewed = true
				b.placements = append(b.placements, place)
				continue
			}
			place.Binding = Copied
		}
		t, err := b.fresh(p.m, i.layout, p.m.Inputs(), opts)
		if err != nil {
			return nil, err
		}
		in[i.layout.Name] = t
		if i.has {
			if place.Moved, err = fill(t, i); err != nil {
				return nil, err
			}
		}
		b.placements = append(b.placements, place)
	}
	for _, l := range p.m.Outputs() {
		if out[l.Name], err = b.fresh(p.m, l, p.m.Outputs(), opts); err != nil {
			return nil, err
		}
	}
	if b.Request, err = p.m.Bind(in, out); err != nil {
		return nil, err
	}
	return b, nil
}

// view makes a tensor where the weights lie, or returns why it cannot.
func (p *plan) view(b *Bindings, i input, offsets bool) (*ane.Tensor, string) {
	l := i.layout
	block, at, err := i.tensor.Block()
	switch {
	case p.refusal != nil:
		return nil, "the engine refuses files: " + p.refusal.Error()
	case i.halves:
		return nil, fmt.Sprintf("%v becomes %v", i.tensor.DType(), l.DType)
	case err != nil:
		return nil, err.Error()
	case !l.Packed():
		return nil, fmt.Sprintf("the engine's rows of %d bytes are padded to %d", l.RowBytes(), l.RowStride)
	case offsets && at%ane.RowAlign == 0:
		t, err := ane.OnRange(block, at, l)
		if err != nil {
			return nil, err.Error()
		}
		return t, ""
	case i.tensor.Offset()%unimem.PageSize != 0:
		return nil, fmt.Sprintf("it starts at byte %d of its file, and the engine reads from byte 0 of a surface",
			i.tensor.Offset())
	}
	if block, err = i.tensor.Map(l.Bytes()); err != nil {
		return nil, err.Error()
	}
	b.own = append(b.own, block)
	t, err := ane.OnBlock(block, l)
	if err != nil {
		return nil, err.Error()
	}
	return t, ""
}

// fresh makes a tensor on new memory.
func (b *Bindings) fresh(m *ane.Model, l ane.Layout, side []ane.Layout, opts []unimem.Option) (*ane.Tensor, error) {
	block, err := unimem.Open(m.SurfaceSize(l, side), opts...)
	if err != nil {
		return nil, &ane.Error{Op: "bind weights", Name: l.Name, Err: err}
	}
	b.own = append(b.own, block)
	return ane.OnBlock(block, l)
}

// fill copies or converts a tensor into the rows of another.
func fill(t *ane.Tensor, i input) (int64, error) {
	if i.layout.Packed() {
		n, err := moveTo(t.Bytes(), i.tensor, i.halves)
		return int64(n), err
	}
	if !i.halves {
		block, _, err := i.tensor.Block()
		if err != nil {
			return 0, err
		}
		n := 0
		err = unimem.Guard(func() (err error) { n, err = t.Write(i.tensor.Bytes()); return err }, block)
		return int64(n), err
	}
	packed := make([]byte, i.layout.PackedBytes())
	n, err := moveTo(packed, i.tensor, true)
	if err != nil {
		return int64(n), err
	}
	m, err := t.Write(packed)
	return int64(n + m), err
}
