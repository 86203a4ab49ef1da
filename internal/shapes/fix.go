package shapes

import (
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
}

// String returns a note for the caller.
func (t Taken) String() string {
	return fmt.Sprintf("input %s takes the shape %s, %s; --shape, or Source.Shapes, takes another one", near.Cut(t.Input),
		Text(t.Shape), t.From)
}

// Text returns a shape as MIL text writes it: [1, 64].
func Text(shape []int) string { return "[" + strings.Join(words(shape), ", ") + "]" }

func words(shape []int) (all []string) {
	for _, n := range shape {
		all = append(all, strconv.Itoa(n))
	}
	return all
}

// Open reports whether the program leaves an axis open.
func Open(p *mil.Program) bool { return slices.ContainsFunc(p.Funcs, open) }

func open(f *mil.Function) bool {
	if f == nil {
		return false
	}
	unknown := func(v mil.Var) bool { return symbolic(v.Type) }
	return slices.ContainsFunc(f.Params, unknown) || slices.ContainsFunc(f.Body, func(op *mil.Op) bool {
		return op != nil && slices.ContainsFunc(op.Results, unknown)
	})
}

// symbolic reports whether a tensor, or a state of one, has an axis without a length.
func symbolic(t mil.Type) bool {
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
// as it is. given are shapes of inputs of the function that p.Select(function) chooses. Other functions take them too
// where they fit. Inputs that are not given take the default of FlexibleShapeInformation, else that of defaults, which
// may name other inputs too. Axes of one name have one length.
//
// The error is a mil.ErrorList: a given shape that an input does not have, or an axis whose length does not follow.
// Then the program is as far as it could be fixed.
func Fix(file string, p *mil.Program, function string, given, defaults map[string][]int) (*mil.Program, []Taken, error) {
	if p == nil || len(given) == 0 && !Open(p) {
		return p, nil, nil
	}
	if err := mil.Validate(file, p); err != nil && !mil.OnlyNames(err) {
		return p, nil, nil // the compiler reports it
	}
	x := fixing{file: file, given: given, defaults: defaults, chosen: p.Select(function)}
	fixed := *p
	fixed.Funcs = slices.Clone(p.Funcs)
	work := &mil.Program{Pos: p.Pos, Version: p.Version, Attrs: p.Attrs}
	var at []int // indexes of the functions of work
	var named []map[string]int
	for i, f := range p.Funcs {
		if f == x.chosen && len(given) > 0 || open(f) {
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

func (x *fixing) fail(pos mil.Pos, hint, format string, args ...any) {
	x.faults.Add(&mil.Error{File: x.file, Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint})
}

// results returns the function of a Survey whose inputs have lengths, with those that follow for its other values.
func (x *fixing) results(g *ops.Graph, named map[string]int) *mil.Function {
	f := *g.Function
	f.Body = slices.Clone(f.Body)
	var left mil.Var
	for i, op := range f.Body {
		if !slices.ContainsFunc(op.Results, func(v mil.Var) bool { return symbolic(v.Type) }) {
			continue
		}
		made := *op
		made.Results = slices.Clone(op.Results)
		for j, r := range made.Results {
			v := g.Values[r.Name]
			switch {
			case !symbolic(r.Type):
			case v != nil && !v.Open && v.Rank() == len(r.Type.Dims):
				made.Results[j].Type = closed(r.Type, agreed(r.Type, v.Shape, named))
			case left.Name == "":
				left = r
			}
		}
		f.Body[i] = &made
	}
	switch {
	case left.Name == "":
	case len(g.Faults) > 0:
		x.faults = append(x.faults, g.Faults[:min(len(g.Faults), mil.MaxFaults)]...)
	default:
		x.fail(left.Pos, "write the lengths of its axes in the program", "the lengths of %s %s do not follow from its "+
			"operands", near.Cut(left.Name), near.Cut(left.Type.String()))
	}
	return &f
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
