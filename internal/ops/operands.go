package ops

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/anekit/anekit/ane/mil"
)

// Operand is an argument with its values.
type Operand struct {
	Name   string
	Values []*Value // none is nil
	List   bool     // the argument is written as a list (a, b), even of one value

	pos mil.Pos
}

// operands are the arguments of a call. They are few: a map would take more time and memory.
type operands []Operand

// find returns the operand called name, if it is given.
func (o operands) find(name string) (a Operand, given bool) {
	for i := range o {
		if o[i].Name == name {
			return o[i], true
		}
	}
	return a, false
}

// Infer applies the rule of an operator, for programs that are made statement by statement; no two operands have one
// name. It returns the results, still without names, and notes like Graph.Notes. The error is a mil.ErrorList; its
// faults have no places.
func (d *Def) Infer(operands ...Operand) (out []*Value, notes []string, err error) {
	a := newAnalysis(context.Background(), "")
	c := a.call(&Node{Def: d, Op: &mil.Op{Kind: d.Name}})
	c.open = true
	for _, o := range operands {
		c.Op.Args = append(c.Op.Args, mil.Arg{Name: o.Name})
		switch {
		case d.Param(o.Name) == nil:
			c.fail("", d.nearest(o.Name), "there is no argument %s", o.Name)
		case len(o.Values) == 0:
			c.fail(o.Name, "list at least one value", "empty list")
		default:
			c.args = append(c.args, o)
		}
	}
	c.rule()
	return c.Out, a.graph.Notes, a.faults.Err()
}

// Parameter returns the value of a function's parameter, or an error if the engine does not support it.
func Parameter(p mil.Var) (*Value, error) {
	a := newAnalysis(context.Background(), "")
	return a.parameter(p), a.faults.Err()
}

// Constant returns the value of a typed literal, and notes like Graph.Notes. It does
// not read elements from a weight file: such a Value has a type and no Data.
func Constant(m *mil.Value) (*Value, []string, error) {
	a := newAnalysis(context.Background(), "")
	if m == nil {
		a.fail(mil.Pos{}, "give a typed literal", "no value")
		return nil, nil, a.faults
	}
	v := a.literal(m)
	return v, a.graph.Notes, a.faults.Err()
}

// arguments fills in c.args from the text.
func (c *Call) arguments() {
	for _, arg := range c.Op.Args {
		p := c.param(arg.Name)
		if p == nil {
			c.a.fail(arg.Pos, c.Def.nearest(arg.Name), "%s has no argument %s",
				c.Def.Name, arg.Name)
		}
		if _, twice := c.args.find(arg.Name); twice { // reported by mil.Validate
			c.bad = true
			continue
		}
		if values, listed := c.operand(cmp.Or(p, &Param{Name: arg.Name}), arg.Value); values != nil {
			c.args = append(c.args, Operand{arg.Name, values, listed, arg.Value.Start()})
		} else {
			c.bad = true
		}
	}
}

// operand resolves an operand of the argument p; values is nil for a fault.
func (c *Call) operand(p *Param, o mil.Operand) (values []*Value, listed bool) {
	a := c.a
	var v *Value
	switch o := o.(type) {
	case mil.Ref:
		v = a.values[o.Name] // Validate reports undefined names
	case *mil.Value:
		bare := o.Bare()
		if bare {
			o = c.typed(p, o)
		}
		if v = a.literal(o); v != nil {
			v.bare = bare
		}
	case *mil.Nested:
		v = a.constant(o.Pos, o.Args, o.Attrs)
	case *mil.Values:
		for _, item := range o.Items {
			one, nested := c.operand(p, item)
			if nested && one != nil {
				a.fail(item.Start(), "write one flat list", "a list inside a list")
				one = nil
			}
			if one == nil {
				return nil, true
			}
			values = append(values, one...)
		}
		if len(values) == 0 {
			a.fail(o.Pos, "list at least one value", "empty list")
		}
		return values, true
	}
	if v == nil {
		return nil, false
	}
	return []*Value{v}, false
}

// typed gives a bare value the type that the parameter p suggests, and adds a note.
func (c *Call) typed(p *Param, v *mil.Value) *mil.Value {
	d, text := c.bareType(p, v), BareText(v)
	c.a.note(v.Pos, fmt.Sprintf("write %s = %v(%s)", p.Name, d, text), "%s: %s: %s has no type, which Apple's compiler "+
		"refuses", c.Op.Kind, p.Name, text)
	return &mil.Value{Pos: v.Pos, Type: mil.ScalarOf(d), Literal: v.Literal}
}

// BareText returns a bare value as it is written.
func BareText(v *mil.Value) string {
	switch l := v.Literal.(type) {
	case mil.Number:
		return l.Text
	case mil.BoolLit:
		return strconv.FormatBool(l.Value)
	}
	return ""
}

// bareType chooses the type of a bare value. A tensor has that of the other operands. A setting with a fraction has
// fp32, because it is not rounded to the type of a tensor.
func (c *Call) bareType(p *Param, v *mil.Value) mil.DType {
	guess := v.BareType()
	if guess == mil.Bool {
		return guess
	}
	if p.Const {
		if guess == mil.FP16 {
			return mil.FP32
		}
		return guess
	}
	for _, arg := range c.Op.Args {
		r, ok := arg.Value.(mil.Ref)
		q := c.param(arg.Name)
		if other := c.a.values[r.Name]; ok && q != nil && !q.Const && other != nil {
			if other.DType.Float() || other.DType.Integer() && guess == mil.Int32 {
				return other.DType
			}
		}
	}
	return guess
}
