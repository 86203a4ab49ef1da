package plan

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
	"github.com/anekit/anekit/internal/remark"
)

// Relink returns a copy of p with other weights.
func (p *Plan) Relink(ctx context.Context, weights ane.Weights) (*Plan, error) {
	l := &linker{Plan: *p, constants: newConstants(maps.Clone(p.Links.known), p.budget, p.arith),
		changed: map[*ops.Value]bool{}}
	l.stored = maps.Clone(p.Links.stored)
	if err := l.read(weights); err != nil {
		return nil, err
	}
	if err := l.fold(ctx); err != nil {
		return nil, err
	}
	if err := l.emit(ctx); err != nil {
		return nil, err
	}
	l.Links.trim(&l.constants)
	made := l.Plan
	return &made, nil
}

// linker is the state of relink.
type linker struct {
	Plan
	constants
	changed map[*ops.Value]bool // constants whose elements differ from the base's
}

// read replaces the constants that the files hold.
func (l *linker) read(weights ane.Weights) error {
	entries, bad := ops.Reread(l.Links.File, l.Links.weights, weights)
	type place struct {
		path   string
		offset uint64
	}
	var faults mil.ErrorList
	var old, added []string
	own := map[place][]byte{} // constants read from one entry share one copy
	l.Links.weights = slices.Clone(l.Links.weights)
	for i, w := range l.Links.weights {
		e := &entries[i]
		if e.Data == nil && e.Stored == nil {
			continue
		}
		if w.Taken != nil && !bytes.Equal(w.Taken, e.Data) {
			faults.Add(&mil.Error{File: l.Links.File, Pos: w.Pos, Err: ane.ErrMismatch,
				Msg: fmt.Sprintf("weights %s: %s sets the program's structure and cannot change in an instance",
					w.Path, w.Name),
				Hint: "keep the value of the base, or compile the program with these weights"})
		}
		if len(w.Notes)+len(e.Notes) > 0 {
			old, added = append(old, w.Notes...), append(added, e.Notes...)
			one := *w
			one.Notes = e.Notes
			l.Links.weights[i] = &one
		}
		v := w.Value
		if v == nil || v == l.Links.unread {
			continue
		}
		data, before, into := e.Data, l.data, l.known
		if e.Stored != nil {
			data, before, into = e.Stored, l.packed, l.stored
		}
		old := before(v)
		if e.Kept && len(data) > 4<<10 && len(old) > 0 && &old[0] != &data[0] {
			old = nil // comparing takes long, and sharing saves no copy
		}
		if bytes.Equal(old, data) {
			continue
		}
		at := place{w.Path, w.Offset}
		if own[at] == nil {
			own[at] = data
			if !e.Kept {
				own[at] = slices.Clone(data)
			}
		}
		delete(l.known, v) // what was unpacked
		into[v], l.changed[v] = own[at], true
	}
	if len(old)+len(added) > 0 {
		l.Notes = slices.DeleteFunc(slices.Clone(l.Notes), func(n string) bool { return slices.Contains(old, n) })
		l.Notes = append(l.Notes, added[:min(len(added), remark.Max)]...)
	}
	return bad.Merge(faults).Err()
}

// fold computes again the nodes that depend on changed constants. The work of a node depends only on shapes, so a node
// that was within the budget before is within it again.
func (l *linker) fold(ctx context.Context) error {
	for _, n := range l.Links.nodes {
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
	l.Steps = slices.Clone(l.Steps)
	for i := range l.Steps {
		if err := run.Between(ctx); err != nil {
			return err
		}
		if err := l.renew(&l.Steps[i]); err != nil {
			return &mil.Error{Pos: l.Steps[i].pos, Msg: err.Error(), Hint: "compile the program with these weights",
				Err: err}
		}
	}
	return nil
}

// renew points a step at changed constants. Its kernel decodes again the constants that it had decoded before.
func (l *linker) renew(s *Step) error {
	stale := func(p Place) bool { return p.Where == Constant && l.changed[p.owner] }
	if !slices.ContainsFunc(s.In, stale) {
		return nil
	}
	s.In = slices.Clone(s.In)
	budget := 0
	for i := range s.In {
		p := &s.In[i]
		if !stale(*p) {
			continue
		}
		if err := l.operand(p, s.Packed.IsPacked(i)); err != nil {
			return err
		}
		budget += len(p.Ahead)
		p.Ahead = nil
	}
	work := s.Work
	if s.make(&budget); s.Work != work {
		return fmt.Errorf("%s: its workspace is %d numbers, not the %d of the base", s.Op, s.Work, work)
	}
	return nil
}

// links hold what makes an instance from a plan: the sources of constants and the nodes computed from them. An instance
// has its own links, which differ in the weights.
type links struct {
	File    string // of the program, for messages
	weights []*ops.Weight
	// unread is the Value of weights that no output needs: instances only check their type and size.
	unread *ops.Value
	nodes  []*ops.Node // folded nodes that depend on weights, in order
	// keep has the weights and the operands of nodes with several operands: folding again needs them when another
	// operand changes. It does not change.
	keep   []*ops.Value
	known  map[*ops.Value][]byte // elements of the values in keep that differ from their Data
	stored map[*ops.Value][]byte // elements of packed weights that differ from their Stored
}

// start records the weights that nodes read, and the folded nodes that depend on them.
func (l *links) start(g *ops.Graph, nodes, folded []*ops.Node) {
	read := make(map[*ops.Value]bool, 2*len(nodes))
	depend := make(map[*ops.Value]bool, len(g.Weights))
	l.unread = &ops.Value{}
	for _, n := range slices.Concat(nodes, folded) {
		for _, v := range n.In {
			read[v] = true
		}
	}
	for _, w := range g.Weights {
		one := *w
		switch {
		case read[one.Value]:
			depend[one.Value] = true
			l.keep = append(l.keep, one.Value)
		case one.Value != nil:
			one.Value = l.unread
		}
		l.weights = append(l.weights, &one)
	}
	for _, n := range folded {
		if !slices.ContainsFunc(n.In, func(v *ops.Value) bool { return depend[v] }) {
			continue
		}
		// Instances do not need the text of the operation, only its position for messages.
		l.nodes = append(l.nodes, &ops.Node{Def: n.Def, Op: &mil.Op{Pos: n.Op.Pos}, In: n.In, Out: n.Out, Attrs: n.Attrs})
		for _, v := range n.Out {
			depend[v] = true
		}
		if len(n.In) > 1 {
			l.keep = append(l.keep, n.In...)
		}
	}
}

// trim keeps the constants of a plan that instances need.
func (l *links) trim(k *constants) {
	l.known, l.stored = map[*ops.Value][]byte{}, k.stored
	for _, v := range l.keep {
		if d := k.known[v]; d != nil && v.Stored == nil {
			l.known[v] = d
		}
	}
}
