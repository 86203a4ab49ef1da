package ops

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/near"
)

// Operand is an argument with its values.
type Operand struct {
	Name   string
	Values []*Value // none is nil
	List   bool     // the argument is written as a list (a, b), even of one value

	pos mil.Pos
}

// Infer applies the rule of the operator called kind, for programs that are made
// statement by statement. It returns the results, still without names, and notes like
// Graph.Notes. The error is a mil.ErrorList; its faults have no places.
func Infer(kind string, operands ...Operand) (out []*Value, notes []string, err error) {
	var faults mil.ErrorList
	def := Lookup(kind)
	if def == nil {
		faults.Add(&mil.Error{Msg: "unknown operator " + kind, Hint: unknownHint(kind)})
		return nil, nil, faults
	}
	c := &Call{Node: &Node{Def: def, Op: &mil.Op{Kind: kind}, args: map[string]Operand{}}, open: true}
	for _, o := range operands {
		p := def.Param(o.Name)
		switch {
		case p == nil:
			c.fail("", near.Hint(o.Name, def.names())+"write "+def.signature(), "there is no argument %s", o.Name)
			continue
		case c.Op.Arg(o.Name) != nil:
			c.fail(o.Name, "remove one", "given twice")
			continue
		}
		c.Op.Args = append(c.Op.Args, mil.Arg{Name: o.Name})
		if len(o.Values) == 0 {
			c.fail(o.Name, "list at least one value", "empty list")
			continue
		}
		c.args[o.Name] = o
		c.suits(p)
	}
	if c.complete(); !c.failed() {
		c.rule()
	}
	for _, n := range c.notes {
		notes = append(notes, kind+": "+n)
	}
	return c.Out, notes, c.faults.Err()
}

// Parameter returns the value of a function's parameter, or an error if the engine
// does not support it.
func Parameter(p mil.Var) (*Value, error) {
	a := analysis{graph: &Graph{}, ctx: context.Background()}
	v := a.parameter(p)
	if v != nil {
		v.input = true
	}
	return v, a.faults.Err()
}

// Constant returns the value of a typed literal, and notes like Graph.Notes. It does
// not read elements from a weight file: such a Value has a type and no Data.
func Constant(m *mil.Value) (*Value, []string, error) {
	a := analysis{graph: &Graph{}, ctx: context.Background()}
	if m == nil {
		a.fail(mil.Pos{}, "give a typed literal", "no value")
		return nil, nil, a.faults
	}
	var v *Value
	if m.Blob() == nil {
		v = a.literal(m)
	} else if v = a.declaredUpTo(MaxRank+2, mil.Var{Pos: m.Pos, Type: m.Type, Name: "weight"}); v != nil &&
		element.Size(v.DType) == 0 {
		a.fail(m.Pos, "use a type of numbers", "weights of type %s are not supported", v.DType)
	}
	if err := a.faults.Err(); err != nil {
		return nil, nil, err
	}
	v.known, v.Folded = true, true
	return v, a.graph.Notes, nil
}

// arguments fills in c.args. It returns false when the call cannot be analyzed further.
func (a *analysis) arguments(c *Call) bool {
	good := true
	for _, arg := range c.Op.Args {
		p := c.param(arg.Name)
		if p == nil {
			a.fail(arg.Pos, near.Hint(arg.Name, c.Def.names())+"write "+c.Def.signature(), "%s has no argument %s",
				c.Def.Name, arg.Name)
			if values, listed := a.operand(a.typed(c, &Param{Name: arg.Name}, arg.Value)); values != nil { // it uses them
				c.args[arg.Name] = Operand{arg.Name, values, listed, arg.Value.Start()}
			}
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
		c.args[arg.Name] = Operand{arg.Name, values, listed, arg.Value.Start()}
		if slices.ContainsFunc(values, func(v *Value) bool { return v.vague }) {
			good = false // the fault is that of the value
		} else if c.Def != nil {
			c.suits(p)
		}
	}
	if c.Def != nil {
		c.complete()
	}
	a.faults = append(a.faults, c.faults...)
	return good && !c.failed()
}

// param returns the parameter called name. An operator that the table does not have has every parameter.
func (c *Call) param(name string) *Param {
	if c.Def == nil {
		return &Param{Name: name}
	}
	return c.Def.Param(name)
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
		a.note((&mil.Error{File: a.file, Pos: o.Pos, Msg: c.Op.Kind + ": " + p.Name + ": " + text + " has no type, " +
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
	for _, arg := range c.Op.Args {
		r, ok := arg.Value.(mil.Ref)
		q := c.param(arg.Name)
		if other := a.values[r.Name]; ok && q != nil && !q.Const && other != nil {
			if other.DType.Float() || other.DType.Integer() && guess == mil.Int32 {
				return other.DType
			}
		}
	}
	return guess
}
