package ops

import (
	"errors"
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane/mil"
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
		if v, ok := arg.Value.(*mil.Value); ok {
			if v.Bare() {
				text := bareText(v)
				a.fail(v.Pos, fmt.Sprintf("write val = %v(%s)", v.BareType(), text), "const: %s has no type", text)
				return nil
			}
			return a.literal(v)
		}
		a.fail(arg.Value.Start(), "write val = type(literal)", "const: val is not a typed literal")
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
	v := a.declaredUpTo(MaxRank+2, mil.Var{Pos: m.Pos, Type: m.Type, Name: "constant"})
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
		var bs []bool
		if bs, err = m.BoolsContext(a.ctx); err == nil {
			v.Data = make([]byte, len(bs))
			for i, b := range bs {
				if b {
					v.Data[i] = 1
				}
			}
		}
	case v.DType.Integer():
		var is []int64
		if is, err = m.IntsContext(a.ctx); err == nil {
			v.Data = encodeInts(v.DType, is)
		}
	case v.DType.Float():
		var fs []float64
		if fs, err = m.FloatsContext(a.ctx); err == nil {
			v.Data = encodeFloats(v.DType, fs)
			for _, text := range outOfRange(v.DType, fs, v.Data) {
				a.graph.ranges = append(a.graph.ranges, a.note(m.Pos, "", "%s", text))
			}
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
	a.faults.Add(e)
}
