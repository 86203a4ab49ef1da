package soft

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/unimem"
)

// invocation is a plan bound to surfaces.
type invocation struct {
	exec   *executable
	blocks []*block // Blocks whose surfaces are acquired
	in     [][]byte // the engine's own view of each input
	out    [][]byte
	calls  []call
	loads  int // value of executable.loads when the calls were bound to its scratch
}

// attach maps the surfaces of tensors.
func (v *invocation) attach(tensors []*ane.Tensor, views *[][]byte) error {
	for _, t := range tensors {
		f, err := v.exec.engine.surfaces.acquire(t.Block())
		if err != nil {
			return err
		}
		v.blocks = append(v.blocks, t.Block())
		at, n := t.Offset(), t.Layout().Bytes()
		mem := f.mapping.Bytes()
		if len(mem) < at+n {
			return &ane.Error{Op: "bind", Engine: Name, Name: t.Layout().Name, Err: ane.ErrShort,
				Detail: "the surface is shorter than its Block"}
		}
		*views = append(*views, mem[at:at+n:at+n])
	}
	return nil
}

// bind points every operand of every step at its memory.
func (v *invocation) bind() error {
	e := v.exec
	v.calls = make([]call, len(e.plan.steps))
	first := 0 // of a fused group
	for i := range e.plan.steps {
		s, c := &e.plan.steps[i], &v.calls[i]
		c.run = s.run
		if !s.joined {
			first = i
		} else {
			c.ctx, v.calls[first].joined = context.Background(), v.calls[first+1:i+1]
		}
		var err error
		if c.in, err = v.find(s.in, v.in, s.arith.operand); err != nil {
			return err
		}
		if c.out, err = v.find(s.out, v.out, s.arith.result); err != nil {
			return err
		}
		if s.work == 0 {
			continue
		}
		for _, room := range e.work {
			f, err := unimem.View[float32](room)
			if err != nil {
				return err
			}
			c.work = append(c.work, f[s.skip:][:s.work:s.work])
			if err := c.viewHalves(room[4*s.skip:][: 4*s.work : 4*s.work]); err != nil {
				return err
			}
			if s.arith.operand == 0 {
				continue
			}
			words, err := unimem.View[int32](room)
			if err != nil {
				return err
			}
			c.words = append(c.words, words[s.skip:][:s.work:s.work])
		}
	}
	v.loads = e.loads
	return nil
}

// viewHalves adds a workspace as halves if the runner views it so.
func (c *call) viewHalves(room []byte) error {
	if _, ok := c.run.(halved); !ok {
		return nil
	}
	pairs, err := unimem.View[uint16](room)
	if err != nil {
		return err
	}
	half, err := unimem.View[fp16.Bits](room)
	c.rooms = append(c.rooms, halfRoom{pairs, half})
	return err
}

// find returns the memory of places, with the rules of its halves. A padded place is an index into
// surfaces, the views of all inputs or of all outputs.
func (v *invocation) find(places []place, surfaces [][]byte, r numerics.Rules) ([]vec, error) {
	found := make([]vec, len(places))
	for i, p := range places {
		var err error
		switch p.where {
		case constant:
			found[i] = p.data
		case scratch:
			found[i], err = view(p.dtype, v.exec.scratch[p.index:p.index+p.bytes:p.index+p.bytes])
		case state:
			found[i], err = view(p.dtype, v.exec.states[p.index:p.index+p.bytes:p.index+p.bytes])
		case input:
			found[i], err = view(p.dtype, v.in[p.index][:p.bytes:p.bytes])
		case output:
			found[i], err = view(p.dtype, v.out[p.index][:p.bytes:p.bytes])
		case padded:
			found[i], err = view(p.dtype, surfaces[p.index])
		}
		if err != nil {
			return nil, err
		}
		found[i].rules = r
	}
	return found, nil
}

// yielder is a context whose owner has more urgent work now and then: Yield does it, and returns when the run may go
// on. It may evaluate other programs, and never this one. A run calls it between two steps, and between two parts of
// the caller's piece of a step.
type yielder interface{ Yield() }

// between is called between two steps of a compile, or of the linking of an instance. It returns the error of a
// context that has ended.
func between(ctx context.Context) error {
	if y, ok := ctx.(yielder); ok {
		y.Yield()
	}
	return ctx.Err()
}

// reading is the context of the parser and of the analysis, which ask it now and then whether it has ended: they let
// more urgent work run then.
type reading struct{ context.Context }

// Err lets more urgent work run, and returns the error of a context that has ended.
func (r reading) Err() error { return between(r.Context) }

// Evaluate implements ane.Invocation. Runs of one program are serialized.
func (v *invocation) Evaluate(ctx context.Context) error {
	e := v.exec
	select {
	case e.turn <- struct{}{}:
	default:
		select {
		case e.turn <- struct{}{}:
		case <-ctx.Done():
			return ane.Deadline("evaluate", Name, ctx.Err())
		}
	}
	defer func() { <-e.turn }()
	if len(e.scratch) < e.plan.scratch || len(e.states) < e.plan.states {
		return &ane.Error{Op: "evaluate", Engine: Name, Err: ane.ErrNotLoaded}
	}
	workers := parallel(e.plan.workers)
	if e.plan.work > 0 {
		if len(e.work) == 0 {
			return &ane.Error{Op: "evaluate", Engine: Name, Err: ane.ErrNotLoaded}
		}
		if len(e.work) < workers {
			if err := e.workspaces(workers); err != nil {
				return &ane.Error{Op: "evaluate", Engine: Name, Err: err, Detail: "no scratch memory"}
			}
		}
	}
	if v.loads != e.loads {
		if err := v.bind(); err != nil {
			return err
		}
	}
	defer func() { e.rounds++ }()
	y, _ := ctx.(yielder)
	for i := 0; i < len(v.calls); i += 1 + len(v.calls[i].joined) {
		if y != nil && i > 0 {
			y.Yield()
		}
		c := &v.calls[i]
		c.begin(ctx, e.rounds, workers)
		c.crew = &e.engine.crew
		c.run.run(c)
		c.ctx, c.yields = nil, nil
		if err := ctx.Err(); err != nil {
			c.fault.Store(nil)
			return ane.Deadline("evaluate", Name, err)
		}
		if err := c.fault.Swap(nil); err != nil {
			return err
		}
	}
	return nil
}

// InputView implements ane.Viewer.
func (v *invocation) InputView(i int) []byte { return v.in[i] }

// OutputView implements ane.Viewer.
func (v *invocation) OutputView(i int) []byte { return v.out[i] }

// Close releases the surfaces.
func (v *invocation) Close() error {
	var errs []error
	for _, b := range v.blocks {
		errs = append(errs, v.exec.engine.surfaces.release(b))
	}
	v.blocks, v.in, v.out, v.calls = nil, nil, nil, nil
	return errors.Join(errs...)
}
