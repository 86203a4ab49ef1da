package soft

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// NewInstance makes an executable of the same program with other weights, without
// parsing, analysing or planning. A file of weights replaces the file of the same
// name. Where weights has no such file (its error matches fs.ErrNotExist), the
// instance uses the receiver's. The instance shares with the receiver all constants
// whose elements are equal and everything else that does not depend on the changes. It
// copies changed constants, so the caller may release its files afterwards; those of ane.Constants it uses where they
// are, and holds them until its Close.
//
// A file must pass the checks of Compile, also for functions that the executable does
// not run. Otherwise the error matches ane.ErrCompile and lists every fault with its
// position in the program. The error also matches ane.ErrMismatch if a changed
// constant sets the structure of the program, such as an axis or a size.
//
// The receiver may be an instance itself. During the call and afterwards it may run,
// make other instances and be closed: the two share only memory of the Go heap that
// neither writes. The engine must stay open.
func (e *executable) NewInstance(ctx context.Context, weights ane.Weights) (ane.Executable, error) {
	own, err := keep(weights)
	if err != nil {
		return nil, refused("instance", e.plan.links.file, err)
	}
	var p *plan
	err = append(own, e.holds...).guard(func() (err error) {
		p, err = e.plan.relink(ctx, weights)
		return err
	})
	if ctx.Err() != nil {
		err = ane.Deadline("instance", Name, ctx.Err())
	} else if err != nil {
		err = refused("instance", e.plan.links.file, err)
	}
	if err != nil {
		own.release()
		return nil, err
	}
	x := newExecutable(e.engine, p)
	e.holds.retain()
	x.holds = append(own, e.holds...)
	return x, nil
}

// relink returns a copy of p with other weights.
func (p *plan) relink(ctx context.Context, weights ane.Weights) (*plan, error) {
	l := &linker{plan: *p, constants: newConstants(maps.Clone(p.links.known), limits.among(p.workers), p.arith),
		changed: map[*ops.Value]bool{}}
	l.stored = maps.Clone(p.links.stored)
	if err := l.read(weights); err != nil {
		return nil, err
	}
	if err := l.fold(ctx); err != nil {
		return nil, err
	}
	if err := l.emit(ctx); err != nil {
		return nil, err
	}
	l.links.trim(&l.constants)
	made := l.plan
	return &made, nil
}

// linker is the state of relink.
type linker struct {
	plan
	constants
	changed map[*ops.Value]bool // constants whose elements differ from the base's
}

// read replaces the constants that the files hold.
func (l *linker) read(weights ane.Weights) error {
	entries, bad := ops.Reread(l.links.file, l.links.weights, weights)
	type place struct {
		path   string
		offset uint64
	}
	var faults mil.ErrorList
	var old, added []string
	own := map[place][]byte{} // constants read from one entry share one copy
	l.links.weights = slices.Clone(l.links.weights)
	for i, w := range l.links.weights {
		e := &entries[i]
		if e.Data == nil && e.Stored == nil {
			continue
		}
		if w.Taken != nil && !bytes.Equal(w.Taken, e.Data) {
			faults.Add(&mil.Error{File: l.links.file, Pos: w.Pos, Err: ane.ErrMismatch,
				Msg: fmt.Sprintf("weights %s: %s sets the program's structure and cannot change in an instance",
					w.Path, w.Name),
				Hint: "keep the value of the base, or compile the program with these weights"})
		}
		if len(w.Notes)+len(e.Notes) > 0 {
			old, added = append(old, w.Notes...), append(added, e.Notes...)
			one := *w
			one.Notes = e.Notes
			l.links.weights[i] = &one
		}
		if v := w.Value; v != nil && !l.equal(v, e) {
			at, data := place{w.Path, w.Offset}, e.Data
			if e.Stored != nil {
				data = e.Stored
			}
			switch {
			case e.Kept:
				own[at] = data
			case own[at] == nil:
				own[at] = slices.Clone(data)
			}
			if e.Stored != nil {
				l.stored[v] = own[at]
				delete(l.known, v)
			} else {
				l.known[v] = own[at]
			}
			l.changed[v] = true
		}
	}
	if len(old)+len(added) > 0 {
		l.notes = slices.DeleteFunc(slices.Clone(l.notes), func(n string) bool { return slices.Contains(old, n) })
		l.notes = append(l.notes, added[:min(len(added), ops.MaxNotes)]...)
	}
	return mil.Merge(bad, faults).Err()
}

// equal reports whether the elements of v are those of an entry.
func (l *linker) equal(v *ops.Value, e *ops.Entry) bool {
	if e.Stored != nil {
		return bytes.Equal(l.packed(v), e.Stored)
	}
	return bytes.Equal(l.data(v), e.Data)
}

// fold computes again the nodes that depend on changed constants. The work of a node
// depends only on shapes, so a node that was within the budget before is within it
// again.
func (l *linker) fold(ctx context.Context) error {
	for _, n := range l.links.nodes {
		if !slices.ContainsFunc(n.In, func(v *ops.Value) bool { return l.changed[v] }) {
			continue
		}
		done, err := l.evaluate(ctx, n)
		if err == nil && !done {
			err = fmt.Errorf("%s: computing it ahead of the runs exceeds the budget that was enough for the base",
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

// emit makes the steps that read changed constants again and keeps the others.
func (l *linker) emit(ctx context.Context) error {
	l.steps = slices.Clone(l.steps)
	for i := range l.steps {
		if err := between(ctx); err != nil {
			return err
		}
		if err := l.renew(&l.steps[i]); err != nil {
			return &mil.Error{Pos: l.steps[i].pos, Msg: err.Error(), Hint: "compile the program with these weights",
				Err: err}
		}
	}
	return nil
}

// renew points a step at changed constants. Its kernel decodes again the constants
// that it had decoded before.
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
		if err := l.operand(p, s.packed.isPacked(i)); err != nil {
			return err
		}
		budget += len(p.ahead)
		p.ahead = nil
	}
	work := s.work
	if s.make(&budget); s.work != work {
		return fmt.Errorf("%s: its workspace is %d numbers, not the %d of the base", s.op, s.work, work)
	}
	return nil
}
