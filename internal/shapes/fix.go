package shapes

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/internal/ops"
)

// Taken is the shape that an input with open axes took.
type Taken struct {
	Function, Input string
	Shape           []int
	From            string // "as given", "the default of the program"
	pos             mil.Pos
}

// given is From of a shape of the caller.
const given = "as given"

// String returns a note for the caller.
func (t Taken) String() string {
	return fmt.Sprintf("input %s takes the shape %s, %s; --shape, or Source.Shapes, takes another one",
		near.Cut(t.Input), Text(t.Shape), t.From)
}

// Notes returns the notes on the shapes that the caller did not give.
func Notes(taken []Taken) (notes []string) {
	for _, t := range taken {
		if t.From != given {
			notes = append(notes, t.String())
		}
	}
	return notes
}

// Text returns a shape as MIL text writes it: [1, 64].
func Text(shape []int) string { return "[" + strings.Join(words(shape), ", ") + "]" }

func words(shape []int) (all []string) {
	for _, n := range shape {
		all = append(all, strconv.Itoa(n))
	}
	return all
}

// ErrOpen marks the faults of shapes. Those without it are faults of a statement, which every engine reports.
var ErrOpen = errors.New("an axis has no length")

// ErrGiven marks, beside ErrOpen, the faults of a shape that the caller gave.
var ErrGiven = fmt.Errorf("%w: an input cannot take the shape that was given", ErrOpen)

// Open reports whether the program leaves an axis open.
func Open(p *mil.Program) bool { return slices.ContainsFunc(p.Funcs, open) }

func open(f *mil.Function) bool {
	if f == nil {
		return false
	}
	return opens(f.Params) || Inner(f) > 0
}

func opens(list []mil.Var) bool {
	return slices.ContainsFunc(list, func(v mil.Var) bool { return Symbolic(v.Type) })
}

// Inner counts the values with an open axis that a function computes.
func Inner(f *mil.Function) (n int) {
	count := func(list []mil.Var) {
		for _, v := range list {
			if Symbolic(v.Type) {
				n++
			}
		}
	}
	for op := range f.Ops() {
		count(op.Results)
		for _, b := range op.Blocks {
			if b != nil {
				count(b.Params)
			}
		}
	}
	return n
}

// Symbolic reports whether a tensor, or a state of one, has an axis without a length.
func Symbolic(t mil.Type) bool {
	return slices.ContainsFunc(tensor(t).Dims, func(d mil.Dim) bool { return !d.Known() })
}

// tensor returns the type of the tensor that a state holds, another type as it is.
func tensor(t mil.Type) mil.Type {
	if t.Kind == mil.State && len(t.Elems) == 1 {
		return t.Elems[0]
	}
	return t
}

// Fix returns p with a length for each axis that it leaves open. p is not changed; without an open axis it is returned
// as it is. shapes are those of inputs of the function that p.Select(function) chooses. Other functions take them too
// where they fit. Inputs that they do not name take the default of FlexibleShapeInformation, else that of defaults,
// which may name other inputs too. Axes of one name have one length.
//
// The error is a mil.ErrorList: a given shape that an input does not have, or an axis whose length does not follow.
// Then the program is as far as it could be fixed.
func Fix(
	file string, p *mil.Program, function string, shapes, defaults map[string][]int,
) (*mil.Program, []Taken, error) {
	if p == nil || len(shapes) == 0 && !Open(p) {
		return p, nil, nil
	}
	if err := mil.Validate(file, p); err != nil && !mil.OnlyNames(err) {
		return p, nil, nil // the compiler reports it
	}
	x := fixing{file: file, given: shapes, defaults: defaults, chosen: p.Select(function)}
	fixed := *p
	fixed.Funcs = slices.Clone(p.Funcs)
	work := &mil.Program{Pos: p.Pos, Version: p.Version, Attrs: p.Attrs}
	var at []int // indexes of the functions of work
	var named []map[string]int
	for i, f := range p.Funcs {
		if f == x.chosen && len(shapes) > 0 || open(f) {
			c := x.inputs(p, f)
			fixed.Funcs[i] = c.function
			if !c.missing {
				work.Funcs, at, named = append(work.Funcs, c.function), append(at, i), append(named, c.named)
			}
		}
	}
	for i, g := range ops.Survey(file, work) {
		fixed.Funcs[at[i]] = x.results(g, named[i])
	}
	if !Open(p) {
		return p, nil, x.faults.Err() // the caller gave what the types say
	}
	return &fixed, x.taken, x.faults.Merge(nil).Err()
}

// fixing is the state of one Fix.
type fixing struct {
	file            string
	given, defaults map[string][]int
	chosen          *mil.Function
	taken           []Taken
	faults          mil.ErrorList
}

func (x *fixing) fail(pos mil.Pos, err error, hint, format string, args ...any) {
	x.faults.Add(&mil.Error{File: x.file, Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint, Err: err})
}

// results returns the function of a Survey whose inputs have lengths, with those that follow for its other values.
func (x *fixing) results(g *ops.Graph, named map[string]int) *mil.Function {
	f := *g.Function
	i := inference{made: map[*mil.Op]*ops.Node{}, named: named}
	for _, n := range g.Statements {
		i.made[n.Op] = n
	}
	f.Body = i.body(f.Body)
	switch {
	case i.left.Name == "":
	case len(g.Faults) > 0: // those of the statements whose results stay open are among them
		for _, t := range x.taken {
			if t.Function == f.Name && t.From != given {
				x.faults.Add(&mil.Error{File: x.file, Pos: t.pos, Msg: t.String()})
			}
		}
		x.faults = append(x.faults, g.Faults[:min(len(g.Faults), mil.MaxFaults)]...)
	default:
		x.fail(i.left.Pos, ErrOpen, "write the lengths of its axes in the program", "the lengths of %s %s do not "+
			"follow from its operands", near.Cut(i.left.Name), near.Cut(i.left.Type.String()))
	}
	return &f
}

// inference closes the types of statements.
type inference struct {
	made  map[*mil.Op]*ops.Node
	named map[string]int // lengths of axes by the names that stand for them
	left  mil.Var        // the first value that stays open
}

// body returns statements with closed types, those in blocks too.
func (i *inference) body(list []*mil.Op) []*mil.Op {
	list = slices.Clone(list)
	for at, op := range list {
		if op == nil || len(op.Blocks) == 0 && !opens(op.Results) {
			continue
		}
		made := *op
		var out []*ops.Value
		if n := i.made[op]; n != nil {
			out = n.Out
		}
		made.Blocks = slices.Clone(op.Blocks)
		for j, b := range op.Blocks {
			if b != nil {
				closed := *b
				closed.Params = i.values(b.Params, out) // the variables of a loop are of the types of its results
				closed.Body = i.body(b.Body)
				made.Blocks[j] = &closed
			}
		}
		made.Results = i.values(op.Results, out)
		list[at] = &made
	}
	return list
}

// values returns declarations with the types of values.
func (i *inference) values(list []mil.Var, out []*ops.Value) []mil.Var {
	list = slices.Clone(list)
	for j := range list {
		switch d := &list[j]; {
		case !Symbolic(d.Type):
		case j < len(out) && !out[j].Open && out[j].Rank() == len(d.Type.Dims):
			d.Type = closed(d.Type, agreed(d.Type, out[j].Shape, i.named))
		case i.left.Name == "":
			i.left = *d
		}
	}
	return list
}

// agreed returns a shape with the lengths that names of its axes already stand for, so that another one is a fault of
// the type.
func agreed(t mil.Type, shape []int, named map[string]int) []int {
	shape = slices.Clone(shape)
	for i, d := range t.Dims {
		if d.Known() {
			shape[i] = d.Size
			continue
		}
		if n, ok := named[d.Symbol]; ok && d.Symbol != "?" {
			shape[i] = n
		}
		named[d.Symbol] = shape[i]
	}
	return shape
}
