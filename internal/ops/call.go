package ops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
)

// Call is one operation while its rule checks it. Getters of settings return the default when the argument is absent,
// and end the rule when it does not fit.
type Call struct {
	*Node // the rule sets Attrs, and Out without names
	a     *analysis
	from  int  // number of the faults before those of the call
	bad   bool // an argument has a fault that is reported elsewhere
	open  bool // the results are not declared: the rule decides their number
}

// call starts a call.
func (a *analysis) call(n *Node) *Call {
	n.args = make(operands, 0, len(n.Op.Args))
	return &Call{Node: n, a: a, from: len(a.faults)}
}

// fail records a fault at the argument called name, or at the operator when name is empty or absent.
func (c *Call) fail(name, hint, format string, args ...any) {
	pos := c.Op.Pos
	if a, ok := c.args.find(name); ok {
		pos = a.pos
	}
	msg := c.Def.Name + ": "
	if name != "" {
		msg += name + ": "
	}
	c.a.fail(pos, hint, "%s", msg+fmt.Sprintf(format, args...))
}

// refuse records a fault and ends the rule.
func (c *Call) refuse(name, hint, format string, args ...any) {
	c.fail(name, hint, format, args...)
	panic(ended{})
}

// refuseIf is refuse for calls of which wrong holds.
func (c *Call) refuseIf(wrong bool, name, hint, format string, args ...any) {
	if wrong {
		c.refuse(name, hint, format, args...)
	}
}

// ended is what the panic of refuse carries.
type ended struct{}

// try runs a check that refuse may end.
func (c *Call) try(check func()) {
	defer func() {
		if e := recover(); e != nil && e != any(ended{}) {
			panic(e)
		}
	}()
	check()
}

// failed reports whether the call has a fault.
func (c *Call) failed() bool { return c.bad || len(c.a.faults) > c.from }

// note adds a remark that is no fault.
func (c *Call) note(text string) {
	g := c.a.graph
	g.notes.Add("", c.Op.Kind, mil.Error{File: c.a.file, Pos: c.Op.Pos, Msg: text})
	g.Notes = g.notes.List
}

// suits checks the operand of an argument against its parameter p.
func (c *Call) suits(p *Param) {
	a, given := c.args.find(p.Name)
	one := func(has func(v *Value) bool) bool { return slices.ContainsFunc(a.Values, has) }
	if p.Const || p.Any || p.Known {
		for _, v := range a.Values {
			v.settle()
		}
	}
	switch {
	case !given:
		if c.Op.Arg(p.Name) == nil && !p.Optional {
			c.fail("", "write "+c.Def.signature(), "argument %s is missing", p.Name)
		}
	case one(func(v *Value) bool { return v.vague }):
		c.bad = true // the fault is that of the value
	case p.Variadic != a.List && !p.Loose:
		how := "a single value"
		if p.Variadic {
			how = "a list (a, b)"
		}
		c.fail(p.Name, "see "+c.Def.signature(), "takes %s", how)
	case p.State && !a.Values[0].State:
		c.fail(p.Name, "declare a parameter state<tensor<fp16, [..]>> and name it here", "has to be a state")
	case !p.State && one(func(v *Value) bool { return v.State }):
		c.fail(p.Name, "read it first: r = read_state(input = s)", "a state where a tensor is expected")
	case p.Const && one(func(v *Value) bool { return !v.Const() && v.guessed }):
		c.bad = true // the fault is that of a statement before
	case p.Const && one(func(v *Value) bool { return !v.Const() }):
		why := ""
		if p.Sized {
			why = ": the shape of the result depends on it, and engines need static shapes"
		}
		c.fail(p.Name, "define it with const()", "has to be a constant%s", why)
	case p.Known && one(func(v *Value) bool { return !v.known && !v.Const() }):
		c.fail(p.Name, "define it with const() or a constexpr operator", "has to be a constant")
	case !p.Const && !p.buffered && one(func(v *Value) bool { return v.buffered() }):
		c.fail(p.Name, "read it first with tensor_buffer_to_tensor", "a tensor_buffer where a tensor is expected")
	case !p.Any && one(func(v *Value) bool { return v.listed }):
		c.fail(p.Name, "read it first, with list_read or list_gather", "a list where a tensor is expected")
	case !p.Const && !p.Deep && one(func(v *Value) bool { return v.Rank() > c.maxRank() }):
		c.fail(p.Name, "merge axes", "rank %d, at most %d", a.Values[0].Rank(), c.maxRank())
	case !p.Const && one(func(v *Value) bool { return v.DType == mil.String }):
		c.fail(p.Name, "pass a tensor", "a string where a tensor is expected")
	}
}

// rule checks the arguments, applies the rule of the operator and fills in the node.
func (c *Call) rule() {
	for _, p := range c.Def.Params {
		c.suits(p)
	}
	if c.failed() {
		return
	}
	for _, p := range c.Def.Params {
		c.try(func() { c.kind(p) })
	}
	switch f := c.Def.Family; {
	case c.failed():
		return
	case f == States:
		c.note("Core ML runs states on the engine; by e5 an M5 refuses them (forge), and no published program has one in " +
			"memory: there feed the state as an extra input and output")
	case c.Def.Cost == Free, c.Def.Cost == Moves, f == Indexing, f == Detections, f >= Conversions && f != Recurrents:
	case c.Def.Name == "resize": // which also moves integers
	default:
		c.fp32()
	}
	c.try(func() {
		c.Def.infer(c, c.Value(c.Def.Params[0].Name))
		c.declares()
	})
	if c.failed() {
		return
	}
	for _, p := range c.Def.Params {
		switch arg, ok := c.args.find(p.Name); {
		case p.Const, p.Like:
		case ok:
			c.In = append(c.In, arg.Values...)
		default:
			c.In = append(c.In, nil)
		}
	}
	if c.fold(); c.Folded() {
		return
	}
	p := &placing{spec: anyChip, via: chip.CoreML}
	p.statement(c.Node)
	if i := slices.IndexFunc(p.Reasons, func(r Reason) bool { return r.Rule == "cpu-operator" }); i >= 0 {
		c.note("Core ML runs it on the CPU (" + p.Reasons[i].Source + ")")
	}
}

// fp32 remarks on arithmetic outside fp16: on the engine of an M1, fp32 exists only at the edges of a program.
func (c *Call) fp32() {
	first := c.Value(c.Def.Params[0].Name).DType
	if first != mil.FP16 && first != mil.Bool {
		c.note(first.String() + " arithmetic: the engine of an M1 computes in fp16 alone (guide); cast to fp16")
	}
}

// kind checks what an argument holds as far as its parameter tells.
func (c *Call) kind(p *Param) {
	switch {
	case !p.Const:
		first := c.Def.Params[0]
		switch x := c.Value(first.Name); {
		case p.Types != nil:
			c.needs(p.Name, p.Types...)
		case p.Any, p.Like, p.State, x != nil && first.Types != nil && !slices.Contains(first.Types, x.DType):
		default:
			c.sameType(first.Name, p.Name)
		}
		if v := c.Value(p.Name); v != nil && p.most > 0 {
			most := p.most
			if most == MaxRank {
				most = c.maxRank()
			}
			c.refuseIf(v.Rank() < p.least || v.Rank() > most, p.Name, p.form, "%s",
				strings.Replace(p.wrong, "%v", fmt.Sprint(v.Shape), 1))
		}
	case p.Variadic:
	case p.Kind == Int, p.Kind == Bool, p.Kind == Number:
		c.elements(p.Name, p.Kind, 1)
	case p.Choices != nil:
		c.word(p.Name)
	}
}

// needs refuses operands of types outside the list.
func (c *Call) needs(name string, types ...mil.DType) {
	for _, v := range c.List(name) {
		c.refuseIf(!slices.Contains(types, v.DType), name, "convert it with cast first",
			"%s is not handled for type %s", v.Name, v.DType)
	}
}

// sameType refuses operands of different element types.
func (c *Call) sameType(a, b string) {
	x, y := c.Value(a), c.Value(b)
	if x != nil && y != nil && x.DType != y.DType {
		c.refuse(b, "convert one with cast", "%s is %s but %s is %s", b, y.DType, a, x.DType)
	}
}

// shaped refuses an operand, if it is given, that has not a shape. The first of format is its own.
func (c *Call) shaped(name string, shape []int, hint, format string, args ...any) {
	if v := c.Value(name); v != nil {
		c.refuseIf(!slices.Equal(v.Shape, shape), name, hint, format, append([]any{v.Shape}, args...)...)
	}
}

// gives sets the Attrs and adds a result.
func (c *Call) gives(attrs any, d mil.DType, shape []int) {
	c.refuseIf(len(shape) > c.maxRank(), "", "merge axes with reshape", "result of rank %d, at most %d", len(shape),
		c.maxRank())
	c.refuseIf(!sensible(shape), "", "results have 1 to 2^31 elements", "result of shape %v is empty or too large", shape)
	c.Attrs, c.Out = attrs, append(c.Out, &Value{DType: d, Shape: shape})
}

// maxRank is the largest rank of operands and results: that of the engine, or that of constants where compiling
// computes the call.
func (c *Call) maxRank() int {
	if c.constants() {
		return maxConstant
	}
	return MaxRank
}

// declares compares the number of results with that of the text.
func (c *Call) declares() {
	hint := "declare every result"
	if len(c.Out) == 0 {
		hint = "write the statement alone, without a result"
	}
	c.refuseIf(!c.open && len(c.Op.Results) != len(c.Out), "", hint, "results: %d expected, %d declared", len(c.Out),
		len(c.Op.Results))
}
