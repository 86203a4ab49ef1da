package soft

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/ops"
)

// NewInstance makes an executable of the same program with other weights, without
// parsing, analysing or planning. A file of weights takes the place of the one of the
// same name; where weights has none, which its error says by matching fs.ErrNotExist,
// the receiver's stays. Constants whose elements are the same are shared with the
// receiver, as is everything else that does not depend on what changed; changed ones
// are copied, so the caller's files may go afterwards.
//
// A file has to pass what Compile checks, for the functions that do not run as well;
// otherwise the error matches ane.ErrCompile and tells every fault with its place in
// the program. It matches ane.ErrMismatch too where a constant decides about the
// program itself, such as an axis or a size, and has changed.
//
// The receiver may run, make other instances and be closed meanwhile and afterwards,
// and may be an instance itself: the two share memory of the Go heap that neither
// writes. Its engine has to stay open.
func (e *executable) NewInstance(ctx context.Context, weights ane.Weights) (ane.Executable, error) {
	p, err := e.plan.relink(ctx, weights)
	if ctx.Err() != nil {
		return nil, ane.Deadline("instance", Name, ctx.Err())
	}
	if err != nil {
		return nil, refused("instance", e.plan.links.file, err)
	}
	return newExecutable(e.engine, p), nil
}

// relink returns a plan that differs from p in its weights.
func (p *plan) relink(ctx context.Context, weights ane.Weights) (*plan, error) {
	l := &linker{plan: *p, constants: newConstants(maps.Clone(p.links.known)), changed: map[*ops.Value]bool{}}
	if err := l.read(weights); err != nil {
		return nil, err
	}
	if err := l.fold(ctx); err != nil {
		return nil, err
	}
	if err := l.emit(ctx); err != nil {
		return nil, err
	}
	l.links.settle(&l.constants)
	made := l.plan
	return &made, nil
}

// linker is the state of relink.
type linker struct {
	plan
	constants
	changed map[*ops.Value]bool // constants with other elements than before
}

// read takes over the constants that the files hold.
func (l *linker) read(weights ane.Weights) error {
	entries, bad := ops.Reread(l.links.file, l.links.weights, weights)
	type place struct {
		path   string
		offset uint64
	}
	var faults mil.ErrorList
	var old, told []string
	own := map[place][]byte{} // constants of one entry share its copy
	l.links.weights = slices.Clone(l.links.weights)
	for i, w := range l.links.weights {
		e := &entries[i]
		if e.Data == nil {
			continue
		}
		if w.Taken != nil && !bytes.Equal(w.Taken, e.Data) {
			faults.Add(&mil.Error{File: l.links.file, Pos: w.Pos, Err: ane.ErrMismatch,
				Msg: fmt.Sprintf("weights %s: %s decides about the program itself and may not change in an instance",
					w.Path, w.Name),
				Hint: "leave it as the base has it, or compile the program with these weights"})
		}
		if len(w.Notes)+len(e.Notes) > 0 {
			old, told = append(old, w.Notes...), append(told, e.Notes...)
			one := *w
			one.Notes = e.Notes
			l.links.weights[i] = &one
		}
		if v := w.Value; v != nil && !bytes.Equal(l.data(v), e.Data) {
			at := place{w.Path, w.Offset}
			if own[at] == nil {
				own[at] = slices.Clone(e.Data)
			}
			l.known[v], l.changed[v] = own[at], true
		}
	}
	if len(old)+len(told) > 0 {
		l.notes = slices.DeleteFunc(slices.Clone(l.notes), func(n string) bool { return slices.Contains(old, n) })
		l.notes = append(l.notes, told[:min(len(told), ops.MaxNotes)]...)
	}
	return mil.Merge(bad, faults).Err()
}

// fold computes again what depends on changed constants. The work of a node depends
// on shapes alone, so what was within the budget once is so again.
func (l *linker) fold(ctx context.Context) error {
	for _, n := range l.links.nodes {
		if !slices.ContainsFunc(n.In, func(v *ops.Value) bool { return l.changed[v] }) {
			continue
		}
		done, err := l.evaluate(ctx, n)
		if err == nil && !done {
			err = fmt.Errorf("%s: computing it ahead of the runs exceeds the budget, which held for the base",
				n.Def.Name)
		}
		if err != nil {
			return &mil.Error{Pos: n.Op.Pos, Msg: err.Error(), Hint: "compile the program with these weights", Err: err}
		}
		for _, v := range n.Out {
			l.changed[v] = true
		}
	}
	return nil
}

// emit makes the steps that read changed constants anew; the others stay.
func (l *linker) emit(ctx context.Context) error {
	l.steps = slices.Clone(l.steps)
	for i := range l.steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.renew(&l.steps[i]); err != nil {
			return &mil.Error{Pos: l.steps[i].pos, Msg: err.Error(), Hint: "compile the program with these weights",
				Err: err}
		}
	}
	return nil
}

// renew points a step at changed constants, and has its kernel decode those again that
// it had decoded before.
func (l *linker) renew(s *step) error {
	stale := func(p place) bool { return p.where == constant && l.changed[p.owner] }
	if !slices.ContainsFunc(s.in, stale) {
		return nil
	}
	s.in = slices.Clone(s.in)
	budget := 0
	for i := range s.in {
		p := &s.in[i]
		if !stale(*p) {
			continue
		}
		var err error
		if p.data, err = l.elements(p.owner); err != nil {
			return err
		}
		budget += len(p.ahead)
		p.ahead = nil
	}
	work := s.work
	if s.make(&budget); s.work != work {
		return fmt.Errorf("%s: its workspace is %d numbers, the base has room for %d", s.op, s.work, work)
	}
	return nil
}
