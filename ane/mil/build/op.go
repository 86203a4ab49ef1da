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

// Op adds an operator with one result of type t by its name, for operators without a
// method here. For an operator that package ops knows, t has to be the inferred type.
// A misspelled one is a fault. Others, which another engine may have, get a note: nothing
// checks their arguments and type. mil.Builder writes every name.
func (f *Func) Op(kind string, t mil.Type, args ...Arg) Value {
	f.own()
	c := &call{f: f, kind: kind}
	if !mil.ValidName(kind) {
		f.fault("operator "+quote(kind)+" is not a name", "name an operator, such as mul")
		return f.lost()
	}
	given := map[string]bool{}
	for _, a := range args {
		switch {
		case !mil.ValidName(a.name):
			f.fault(kind+": argument "+quote(a.name)+" is not a name", nameHint)
			c.lost = true
			continue
		case given[a.name]:
			f.fault(kind+": argument "+quote(a.name)+" is given twice", "remove one")
			c.lost = true
			continue
		}
		given[a.name] = true
		switch o := a.value.(type) {
		case Value, []Value:
			c.put(a.name, o)
		case *mil.Value:
			if o == nil {
				f.fault(kind+": "+a.name+": no value", "make one with mil.FP16Scalar, mil.Int32s ..")
				c.lost = true
				continue
			}
			c.put(a.name, o)
		default:
			f.fault(fmt.Sprintf("%s: %s: %T is not an operand", kind, a.name, a.value),
				"give a Value, a []Value or a *mil.Value")
			c.lost = true
		}
	}
	if ops.Lookup(kind) != nil {
		y := c.one()
		if y.n.v != nil && !y.Type().Same(t) {
			f.fault(fmt.Sprintf("%s: the result is %v, not %v", kind, y.Type(), t), "declare the inferred type")
			return f.lost()
		}
		return y
	}
	if hint, surely := ops.Suggest(kind); surely {
		f.fault("unknown operator "+kind, hint)
		return f.lost()
	}
	shape, fixed := t.Shape()
	if n, _ := t.Elements(); !fixed || n < 1 || n > maxElements || len(shape) > ops.MaxRank || t.DType == mil.NoType {
		f.fault(fmt.Sprintf("%s: a result of type %v", kind, t), "declare a tensor of fixed shape")
		return f.lost()
	}
	if c.constants(); c.lost {
		return f.lost()
	}
	f.b.note(kind + ": the software engine does not have this operator; its arguments and its type are not checked")
	return c.write([]*ops.Value{{DType: t.DType, Shape: shape}})[0]
}
