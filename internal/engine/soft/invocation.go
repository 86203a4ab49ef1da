package soft

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft/plan"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/unimem"
)

// invocation is a plan bound to surfaces.
type invocation struct {
	exec   *executable
	blocks []*unimem.Block // Blocks whose surfaces are acquired
	in     [][]byte        // the engine's own view of each input
	out    [][]byte
	calls  []run.Call
	room   *room // to which the calls are bound
	// changes and loads are the values of the room's and of the executable's when the calls were bound.
	changes, loads int
}

// attach maps the surfaces of tensors.
func (v *invocation) attach(tensors []*ane.Tensor, views *[][]byte) error {
	for _, t := range tensors {
		mem, err := v.exec.engine.surfaces.Acquire(t.Block())
		if err != nil {
			return err
		}
		v.blocks = append(v.blocks, t.Block())
		at, n := t.Offset(), t.Layout().Bytes()
		if len(mem) < at+n {
			return &ane.Error{Op: "bind", Engine: Name, Name: t.Layout().Name, Err: ane.ErrShort,
				Detail: "the surface is shorter than its Block"}
		}
		*views = append(*views, mem[at:at+n:at+n])
	}
	return nil
}

// bind points every operand of every step at its memory.
func (v *invocation) bind(r *room) error {
	e := v.exec
	v.room = r
	v.calls = make([]run.Call, len(e.plan.Steps))
	first := 0 // of a fused group
	for i := range e.plan.Steps {
		s, c := &e.plan.Steps[i], &v.calls[i]
		c.Run, c.To = s.Run, s.To
		if !s.Joined {
			first = i
		} else {
			c.Ctx, v.calls[first].Joined = context.Background(), v.calls[first+1:i+1]
		}
		var err error
		if c.In, err = v.find(s.In, s.Arith.Operand); err != nil {
			return err
		}
		if c.Out, err = v.find(s.Out, s.Arith.Result); err != nil {
			return err
		}
		if s.Work == 0 {
			continue
		}
		for _, room := range r.work {
			if err := c.AddRoom(room[4*s.Skip:][: 4*s.Work : 4*s.Work]); err != nil {
				return err
			}
		}
	}
	v.changes, v.loads = r.changes, e.loads
	return nil
}

// find returns the memory of places, with the rules of its halves.
func (v *invocation) find(places []plan.Place, r numerics.Rules) ([]run.Vec, error) {
	found := make([]run.Vec, len(places))
	for i, p := range places {
		var mem []byte
		switch p.Where {
		case plan.Constant:
			found[i] = p.Data
		case plan.Scratch:
			mem = v.room.scratch[p.Index:]
		case plan.State:
			mem = v.exec.states[p.Index:]
		case plan.Input:
			mem = v.in[p.Index]
		case plan.Output:
			mem = v.out[p.Index]
		}
		if mem != nil {
			var err error
			if found[i], err = run.View(p.DType, mem[:p.Bytes:p.Bytes]); err != nil {
				return nil, err
			}
		}
		found[i].Rules = r
	}
	return found, nil
}

// reading is the context of the parser and of the analysis, which ask it now and then whether it has ended: they let
// more urgent work run then.
type reading struct{ context.Context }

// Err lets more urgent work run, and returns the error of a context that has ended.
func (r reading) Err() error { return run.Between(r.Context) }

// Evaluate implements ane.Invocation. Runs of one program are serialized.
func (v *invocation) Evaluate(ctx context.Context) error {
	e := v.exec
	select {
	case e.running <- struct{}{}:
	default: // quicker than one select of both
		select {
		case e.running <- struct{}{}:
		case <-ctx.Done():
			return ane.Deadline("evaluate", Name, ctx.Err())
		}
	}
	defer func() { <-e.running }()
	if !e.loaded {
		return &ane.Error{Op: "evaluate", Engine: Name, Err: ane.ErrNotLoaded}
	}
	workers := run.Parallel(e.plan.Workers)
	room, err := e.rooms.take(v.room, e.plan, workers)
	if err != nil {
		return &ane.Error{Op: "evaluate", Engine: Name, Err: err, Detail: "no scratch memory"}
	}
	defer e.rooms.give(room)
	if v.room != room || v.changes != room.changes || v.loads != e.loads {
		if err := v.bind(room); err != nil {
			return err
		}
	}
	defer func() { e.rounds++ }()
	y, _ := ctx.(run.Yielder)
	for i, round := 0, e.rounds; i < len(v.calls); {
		if y != nil && i > 0 {
			y.Yield()
		}
		c := &v.calls[i]
		c.Begin(ctx, round, workers)
		c.Crew = &e.engine.crew
		c.Run.Run(c)
		c.Ctx, c.Yields = nil, nil
		if err := ctx.Err(); err != nil {
			c.Fault.Store(nil)
			return ane.Deadline("evaluate", Name, err)
		}
		if err := c.Fault.Swap(nil); err != nil {
			return err
		}
		if !c.Leaps {
			i += 1 + len(c.Joined)
			continue
		}
		if c.To <= i {
			round += iteration
		}
		i = c.To
	}
	return nil
}

// iteration is what random operators count an iteration of a loop as, so that each draws other numbers.
const iteration = 1 << 32

// InputView implements access.Viewer.
func (v *invocation) InputView(i int) []byte { return v.in[i] }

// OutputView implements access.Viewer.
func (v *invocation) OutputView(i int) []byte { return v.out[i] }

// Close releases the surfaces.
func (v *invocation) Close() error {
	var errs []error
	for _, b := range v.blocks {
		errs = append(errs, v.exec.engine.surfaces.Release(b))
	}
	v.blocks, v.in, v.out, v.calls = nil, nil, nil, nil
	return errors.Join(errs...)
}
