package ops

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/remark"
)

// bracketed returns op with the attributes that are arguments of def among its arguments: operators that make constants
// may have them in the brackets.
func bracketed(def *Def, op *mil.Op) *mil.Op {
	moved := *op
	moved.Args = slices.Clone(op.Args)
	for _, at := range op.Attrs {
		if def.Param(at.Name) != nil && op.Arg(at.Name) == nil {
			moved.Args = append(moved.Args, at)
		}
	}
	return &moved
}

// constant reads the val of a const.
func (a *analysis) constant(pos mil.Pos, args, attrs []mil.Arg) *Value {
	for _, arg := range slices.Concat(attrs, args) {
		if arg.Name != "val" {
			continue
		}
		switch v, ok := arg.Value.(*mil.Value); {
		case !ok:
			a.fail(arg.Value.Start(), "write val = type(literal)", "const: val is not a typed literal")
		case v.Bare():
			text := BareText(v)
			a.fail(v.Pos, fmt.Sprintf("write val = %v(%s)", v.BareType(), text), "const: %s has no type", text)
		default:
			return a.literal(v)
		}
		return nil
	}
	a.fail(pos, "write const()[name = string(\"n\"), val = type(literal)]", "const: val is missing")
	return nil
}

// literal returns the constant Value of a typed literal.
func (a *analysis) literal(m *mil.Value) *Value {
	if a.ctx.Err() != nil {
		return nil
	}
	if m.Type.Kind == mil.List {
		return a.list(m)
	}
	name := "constant"
	if m.Blob() != nil && a.files == nil {
		name = "weight"
	}
	v := a.declared(maxConstant, mil.Var{Pos: m.Pos, Type: m.Type, Name: name})
	if v == nil {
		return nil
	}
	if v.known, v.Folded = true, true; a.survey {
		v.Literal = m
	}
	var err error
	switch b, isBlob := m.Literal.(*mil.Blob); {
	case isBlob:
		return a.weight(v, m, b)
	case v.DType == mil.String:
		v.Text, err = m.Strings()
	case v.DType == mil.Bool:
		list, bad := m.BoolsContext(a.ctx)
		v.Data, err = encode(v.DType, list, truth), bad
	case v.DType.Integer():
		list, bad := m.IntsContext(a.ctx)
		v.Data, err = encodeInts(v.DType, list), bad
	case v.DType.Float():
		list, bad := m.FloatsContext(a.ctx)
		v.Data, err = encode(v.DType, list, same), bad
		for _, text := range outOfRange(v.DType, list, v.Data) {
			a.graph.ranges = append(a.graph.ranges, a.note(m.Pos, "", "%s", text))
		}
	default:
		a.fail(m.Pos, "use a type of numbers", "%s literals are not supported", v.DType)
		return nil
	}
	if err != nil {
		a.wrap(m.Pos, err)
		return nil
	}
	return v
}

// wrap records an error of package mil, at its own position if it has one.
func (a *analysis) wrap(pos mil.Pos, err error) {
	var e *mil.Error
	if !errors.As(err, &e) {
		e = &mil.Error{Msg: err.Error(), Err: err}
	}
	if !e.Pos.Known() {
		e.Pos = pos
	}
	e.File = a.file
	a.faults.Add(e)
}

// RangeNotes returns a note on each literal of p with numbers that become infinite in its type, and one on each with
// numbers that become zero. Notes are in the order of the text, at most remark.Max. Unlike Analyze it needs no weights.
func RangeNotes(file string, p *mil.Program) (notes []string) {
	for _, g := range Survey(file, p) {
		notes = append(notes, g.ranges...)
	}
	return notes[:min(len(notes), remark.Max)]
}

// outOfRange returns a note on the numbers of a literal that became infinite and one on those that became zero
// when they were rounded to its type. data holds the rounded numbers.
func outOfRange(d mil.DType, numbers []float64, data []byte) (notes []string) {
	var infinite, zero []float64
	for i, x := range numbers {
		switch y := element.Load(d, data[i*d.Size():]); {
		case math.IsInf(y, 0) && !math.IsInf(x, 0):
			infinite = append(infinite, x)
		case y == 0 && x != 0:
			zero = append(zero, x)
		}
	}
	tell := func(of []float64, format string) {
		others := ""
		if len(of) > 1 {
			others = fmt.Sprintf(", like %d more", len(of)-1)
		}
		if len(of) > 0 {
			notes = append(notes, fmt.Sprintf(format, d, of[0], others))
		}
	}
	tell(infinite, "%v(%g) is beyond the range of its type and becomes infinite%s; write inf if that is meant")
	tell(zero, "%v(%g) is too small for its type and becomes 0%s; use a type of larger range")
	return notes
}
