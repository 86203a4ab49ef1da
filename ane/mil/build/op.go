package build

import (
	"fmt"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// Arg is an argument of Op.
type Arg struct {
	name  string
	value any
}

// A names an operand: a Value, a []Value for a list (a, b), or a *mil.Value such as
// that of mil.Int32Scalar, which becomes a constant.
func A(name string, operand any) Arg { return Arg{name, operand} }

// Op adds an operator with one result of type t by its name, for operators without a method here. For an operator that
// package ops knows, t has to be the inferred type. A misspelled one is a fault. Others, which another engine may have,
// get a note: nothing checks their arguments and type. mil.Builder writes every name.
func (f *Func) Op(kind string, t mil.Type, args ...Arg) Value {
	f.own()
	c := &call{f: f, kind: kind}
	if !mil.ValidName(kind) {
		return f.fault("operator "+quote(kind)+" is not a name", "name an operator, such as mul")
	}
	for _, a := range args {
		_, single := a.value.(Value)
		_, list := a.value.([]Value)
		switch m, literal := a.value.(*mil.Value); {
		case !single && !list && !literal:
			c.fail(fmt.Sprintf("%s: %T is not an operand", a.name, a.value), "give a Value, a []Value or a *mil.Value")
		case !mil.ValidName(a.name):
			c.fail("argument "+quote(a.name)+" is not a name", nameHint)
		case c.has(a.name):
			c.fail("argument "+quote(a.name)+" is given twice", "remove one")
		case literal && m == nil:
			c.fail(a.name+": no value", "make one with mil.FP16Scalar, mil.Int32s ..")
		default:
			c.put(a.name, a.value)
		}
	}
	if ops.Lookup(kind) != nil {
		y := c.one()
		if y.v != nil && !y.Type().Same(t) {
			return f.fault(fmt.Sprintf("%s: the result is %v, not %v", kind, y.Type(), t), "declare the inferred type")
		}
		return y
	}
	if hint, surely := ops.Suggest(kind); surely {
		return f.fault("unknown operator "+kind, hint)
	}
	shape, fixed := t.Shape()
	if n, _ := t.Elements(); !fixed || n < 1 || n > ops.MaxElements || len(shape) > ops.MaxRank || t.DType == mil.NoType {
		return f.fault(fmt.Sprintf("%s: a result of type %v", kind, t), "declare a tensor of fixed shape")
	}
	if c.lost {
		return f.lost()
	}
	f.b.note(kind + ": the software engine does not have this operator; its arguments and its type are not checked")
	return c.write([]*ops.Value{{DType: t.DType, Shape: shape}})[0]
}
