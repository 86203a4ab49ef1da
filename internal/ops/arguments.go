package ops

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/near"
)

// arguments fills in c.args. It returns false when the call cannot be analyzed further.
func (a *analysis) arguments(c *Call) bool {
	good := true
	for _, arg := range c.op.Args {
		p := c.def.param(arg.Name)
		if p == nil {
			a.fail(arg.Pos, near.Hint(arg.Name, c.def.names())+"write "+c.def.signature(), "%s has no argument %s",
				c.def.Name, arg.Name)
			good = false
			continue
		}
		if _, twice := c.args[arg.Name]; twice {
			good = false // reported by mil.Validate
			continue
		}
		values, listed := a.operand(a.typed(c, p, arg.Value))
		if values == nil {
			good = false
			continue
		}
		values[0].bare = values[0].bare || isBare(arg.Value)
		c.args[arg.Name] = argument{pos: arg.Value.Start(), values: values, listed: listed}
		c.suits(p)
	}
	c.complete()
	a.faults = append(a.faults, c.faults...)
	return good && !c.failed()
}

// operand resolves the operand of an argument; values is nil for a fault.
func (a *analysis) operand(o mil.Operand) (values []*Value, listed bool) {
	switch o := o.(type) {
	case mil.Ref:
		if v := a.values[o.Name]; v != nil { // Validate reports undefined names
			return []*Value{v}, false
		}
	case *mil.Value:
		if v := a.literal(o); v != nil {
			return []*Value{v}, false
		}
	case *mil.Nested:
		if v := a.constant(o.Pos, o.Args, o.Attrs); v != nil {
			return []*Value{v}, false
		}
	case *mil.Values:
		for _, item := range o.Items {
			v, nested := a.operand(item)
			if nested && v != nil {
				a.fail(item.Start(), "write one flat list", "a list inside a list")
				v = nil
			}
			if v == nil {
				return nil, true
			}
			values = append(values, v...)
		}
		if len(values) == 0 {
			a.fail(o.Pos, "list at least one value", "empty list")
		}
		return values, true
	}
	return nil, false
}

// typed gives bare values the type that the parameter p suggests, and adds a note. It
// returns every other operand as it is.
func (a *analysis) typed(c *Call, p *Param, o mil.Operand) mil.Operand {
	switch o := o.(type) {
	case *mil.Value:
		if !o.Bare() {
			break
		}
		d := a.bareType(c, p, o)
		text := bareText(o)
		a.note((&mil.Error{File: a.file, Pos: o.Pos, Msg: c.def.Name + ": " + p.Name + ": " + text + " has no type, " +
			"which Apple's compiler refuses", Hint: fmt.Sprintf("write %s = %v(%s)", p.Name, d, text)}).Error())
		return &mil.Value{Pos: o.Pos, Type: mil.ScalarOf(d), Literal: o.Literal}
	case *mil.Values:
		if !slices.ContainsFunc(o.Items, isBare) {
			break
		}
		items := make([]mil.Operand, len(o.Items))
		for i, item := range o.Items {
			items[i] = item
			if isBare(item) {
				items[i] = a.typed(c, p, item)
			}
		}
		return &mil.Values{Pos: o.Pos, Items: items}
	}
	return o
}

func isBare(o mil.Operand) bool {
	v, ok := o.(*mil.Value)
	return ok && v.Bare()
}

// bareText returns a bare value as it is written.
func bareText(v *mil.Value) string {
	switch l := v.Literal.(type) {
	case mil.Number:
		return l.Text
	case mil.BoolLit:
		return strconv.FormatBool(l.Value)
	}
	return ""
}

// bareType chooses the type of a bare value: that of the other operands for a tensor, and
// fp32 for settings with a fraction, because they are not rounded to the type of a tensor.
func (a *analysis) bareType(c *Call, p *Param, v *mil.Value) mil.DType {
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
	for _, arg := range c.op.Args {
		r, ok := arg.Value.(mil.Ref)
		q := c.def.param(arg.Name)
		if other := a.values[r.Name]; ok && q != nil && !q.Const && other != nil {
			if other.DType.Float() || other.DType.Integer() && guess == mil.Int32 {
				return other.DType
			}
		}
	}
	return guess
}
