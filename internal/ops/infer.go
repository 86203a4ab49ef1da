package ops

import (
	"context"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/near"
)

// Operand is an argument with its values.
type Operand struct {
	Name   string
	Values []*Value // none is nil
	List   bool     // the argument is written as a list (a, b), even of one value
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
	c := &Call{def: def, op: &mil.Op{Kind: kind}, args: map[string]argument{}, open: true}
	for _, o := range operands {
		p := def.param(o.Name)
		switch {
		case p == nil:
			c.fail("", near.Hint(o.Name, def.names())+"write "+def.signature(), "there is no argument %s", o.Name)
			continue
		case c.op.Arg(o.Name) != nil:
			c.fail(o.Name, "remove one", "given twice")
			continue
		}
		c.op.Args = append(c.op.Args, mil.Arg{Name: o.Name})
		if len(o.Values) == 0 {
			c.fail(o.Name, "list at least one value", "empty list")
			continue
		}
		c.args[o.Name] = argument{values: o.Values, listed: o.List}
		c.suits(p)
	}
	if c.complete(); !c.failed() {
		def.infer(c)
	}
	for _, v := range c.out {
		v.known = def.constexpr()
	}
	for _, n := range c.notes {
		notes = append(notes, kind+": "+n)
	}
	return c.out, notes, c.faults.Err()
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
