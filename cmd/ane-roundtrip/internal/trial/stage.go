package trial

import (
	"context"
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/models"
	"github.com/anekit/anekit/unimem"
)

// stage is surfaces for programs with one input and one output of the same shape.
type stage struct {
	ctx      context.Context
	models   []*ane.Model
	programs []models.Model
	surfaces map[string]*ane.Tensor
	requests []*ane.Request
	blocks   []*unimem.Block
	reads    int    // of outputs
	right    int    // of these
	fault    string // of the first wrong one
}

// newStage loads programs and opens the named surfaces. fault is why they cannot share surfaces. If it fails, the
// caller closes what was opened.
func newStage(ctx context.Context, d *ane.Device, programs []models.Model, names ...string) (s *stage, fault string,
	err error) {
	s = &stage{ctx: ctx, programs: programs, surfaces: map[string]*ane.Tensor{}}
	for _, p := range programs {
		m, err := d.Compile(ctx, ane.Source{File: p.Name + ".mil", Program: p.Program, Weights: p.Weights})
		if err != nil {
			return s, "", err
		}
		s.models = append(s.models, m)
		if err := m.Load(ctx); err != nil {
			return s, "", err
		}
	}
	first := s.models[0].Inputs()[0]
	for _, m := range s.models {
		for _, l := range []ane.Layout{m.Inputs()[0], m.Outputs()[0]} {
			if l.Bytes() != first.Bytes() || l.RowStride != first.RowStride || l.DType != first.DType {
				return s, fmt.Sprintf("tensors of one shape lie differently on this engine: rows of %d bytes and of %d",
					first.RowStride, l.RowStride), nil
			}
		}
	}
	for _, name := range names {
		b, err := unimem.Open(s.models[0].SurfaceSize(first, nil))
		if err != nil {
			return s, "", err
		}
		s.blocks = append(s.blocks, b)
		if s.surfaces[name], err = ane.OnBlock(b, first); err != nil {
			return s, "", err
		}
	}
	return s, "", nil
}

// bind binds program i to two surfaces.
func (s *stage) bind(i int, from, to string) (*ane.Request, error) {
	m := s.models[i]
	r, err := m.Bind(map[string]*ane.Tensor{m.Inputs()[0].Name: s.surfaces[from]},
		map[string]*ane.Tensor{m.Outputs()[0].Name: s.surfaces[to]})
	if err == nil {
		s.requests = append(s.requests, r)
	}
	return r, err
}

// write fills a surface with the inputs of the last program for a seed and returns them.
func (s *stage) write(name string, seed uint64) ([]float64, error) {
	t := s.surfaces[name]
	last := len(s.programs) - 1
	values := s.programs[last].Input(s.models[last].Inputs()[0].Name, t.Layout().Elements(), seed)
	return values, write(t, values)
}

// of is what program i makes of values.
func (s *stage) of(i int, values []float64) []float64 {
	return s.programs[i].Reference(map[string][]float64{s.models[i].Inputs()[0].Name: values})[s.models[i].Outputs()[0].Name]
}

// read compares a surface with what program i has to have written there.
func (s *stage) read(name string, i int, want []float64) error {
	got := make([]float32, len(want))
	if _, err := s.surfaces[name].ReadFloat32(got); err != nil {
		return err
	}
	s.reads++
	for at, g := range got {
		if !s.programs[i].Tolerance.Allows(float64(g), want[at]) {
			if s.fault == "" {
				s.fault = fmt.Sprintf("%s[%d] is %v, the reference %.6g", name, at, g, want[at])
			}
			return nil
		}
	}
	s.right++
	return nil
}

// poison overwrites a surface with bytes that no program writes.
func (s *stage) poison(name string) {
	b := s.surfaces[name].Bytes()
	for i := range b {
		b[i] = 0xff // a NaN in every type
	}
}

// evaluate runs requests one after the other.
func (s *stage) evaluate(requests ...*ane.Request) error {
	for _, r := range requests {
		if _, err := r.Evaluate(s.ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) close() error {
	var errs []error
	for _, r := range s.requests {
		errs = append(errs, r.Close())
	}
	for _, m := range s.models {
		errs = append(errs, m.Close(context.WithoutCancel(s.ctx)))
	}
	for _, b := range s.blocks {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}

// played makes a check of the reads of play.
func played(ctx context.Context, d *ane.Device, name string, programs []models.Model, about string,
	play func(*stage) error, surfaces ...string) (check Check, err error) {
	s, fault, err := newStage(ctx, d, programs, surfaces...)
	defer func() { err = errors.Join(err, s.close()) }()
	if err != nil {
		return Check{}, err
	}
	if fault != "" {
		return Skipped(name, "%s", fault), nil
	}
	if err := play(s); err != nil {
		return Check{}, err
	}
	if s.fault != "" {
		about = s.fault
	}
	return Judge(name, s.fault == "", float64(s.right), "reads", "%s", about).Against(AtLeast(float64(s.reads))), nil
}
