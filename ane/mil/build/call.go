package build

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// call gathers the arguments of one operator.
type call struct {
	f    *Func
	kind string
	def  *ops.Def // nil in Op, which writes what it is given and nothing else
	args []argument
	lost bool // an argument is faulty, and its fault is recorded
}

// argument is an argument of a call.
type argument struct {
	name     string
	nodes    []*node
	settings []*mil.Value // that have no node yet
	list     bool         // written in parentheses
}

// option is an argument that a caller may leave out.
type option interface{ set(*call) }

// call starts a call. Each of args is for the next parameter that it fits: Value and []Value for a tensor that is not
// optional, other types for a setting of their kind.
func (f *Func) call(kind string, args ...any) *call {
	f.own()
	c := &call{f: f, kind: kind, def: ops.Lookup(kind)}
	next := 0
	for _, a := range args {
		for ; !fits(a, c.def.Params[next]); next++ {
		}
		c.put(c.def.Params[next].Name, a)
		next++
	}
	return c
}

// plain writes an operator of one result without options.
func (f *Func) plain(kind string, args ...any) Value { return f.call(kind, args...).one() }

// with starts a call with options, of which later ones replace earlier ones. Options may be nil.
func with[O option](f *Func, options []O, kind string, args ...any) *call {
	c := f.call(kind, args...)
	for _, o := range options {
		if any(o) != nil {
			o.set(c)
		}
	}
	return c
}

// fits reports whether an argument of call is for a parameter.
func fits(a any, p ops.Param) bool {
	switch a.(type) {
	case Value:
		return !p.Const && !p.Variadic && !p.Optional
	case []Value:
		return !p.Const && p.Variadic
	case int:
		return p.Kind == ops.Int
	case []int:
		return p.Kind == ops.Ints
	case bool:
		return p.Kind == ops.Bool
	case float64:
		return p.Kind == ops.Number
	case string, mil.DType:
		return p.Kind == ops.Word
	}
	return p.Const // *mil.Value and element
}

// put adds an argument called name, in place of an earlier one.
func (c *call) put(name string, value any) *call {
	switch v := value.(type) {
	case Value:
		return c.values(name, false, v)
	case []Value:
		return c.values(name, true, v...)
	case int:
		if p := c.param(name); p != nil && p.Types != nil {
			return c.setting(name, mil.IntScalar(p.Types[0], v))
		}
		return c.setting(name, mil.Int32Scalar(v))
	case []int:
		if c.empty(name, len(v)) {
			return c
		}
		return c.setting(name, mil.Int32s(v...))
	case []bool:
		if c.empty(name, len(v)) {
			return c
		}
		return c.setting(name, mil.BoolVec(v...))
	case bool:
		return c.setting(name, mil.BoolScalar(v))
	case float64: // of the type of x if that is a float type
		if c.first().dtype() == mil.FP32 {
			return c.setting(name, mil.FP32Scalar(v))
		}
		return c.setting(name, mil.FP16Scalar(v))
	case string:
		return c.setting(name, mil.StringScalar(v))
	case mil.DType:
		return c.setting(name, mil.StringScalar(v.String()))
	case element:
		return c.element(name, v)
	}
	return c.setting(name, value.(*mil.Value))
}

func (c *call) param(name string) *ops.Param {
	if c.def == nil {
		return nil
	}
	return c.def.Param(name)
}

// first is the first operand.
func (c *call) first() Value {
	for _, a := range c.args {
		if len(a.nodes) > 0 {
			return Value{a.nodes[0]}
		}
	}
	return Value{}
}

// add adds an argument, in place of an earlier one of that name.
func (c *call) add(a argument) *call {
	c.remove(a.name)
	c.args = append(c.args, a)
	return c
}

func (c *call) remove(name string) {
	c.args = slices.DeleteFunc(c.args, func(a argument) bool { return a.name == name })
}

// setting adds a constant argument.
func (c *call) setting(name string, m *mil.Value) *call {
	return c.add(argument{name: name, settings: []*mil.Value{m}})
}

// values adds tensors.
func (c *call) values(name string, list bool, values ...Value) *call {
	a := argument{name: name, list: list}
	for i, v := range values {
		what := c.kind + ": " + name
		if list {
			what += fmt.Sprintf("[%d]", i)
		}
		if n := c.f.take(what, v); n != nil {
			a.nodes = append(a.nodes, n)
		} else {
			c.lost = true
		}
	}
	return c.add(a)
}

// element is a single number of a type; for bool, 0 or 1.
type element struct {
	dtype  mil.DType
	number float64
}

func (c *call) element(name string, e element) *call {
	x, d := e.number, e.dtype
	switch {
	case d == mil.FP32:
		return c.setting(name, mil.FP32Scalar(x))
	case d == mil.Bool && (x == 0 || x == 1):
		return c.setting(name, mil.BoolScalar(x == 1))
	case d.Integer() && x == math.Trunc(x) && math.Abs(x) <= math.MaxUint32:
		return c.setting(name, mil.IntScalar(d, int(x)))
	case d == mil.FP16:
		return c.setting(name, mil.FP16Scalar(x))
	}
	if !c.lost {
		c.f.fault(fmt.Sprintf("%s: %s: %v is not of type %v", c.kind, name, x, d), "give a number of the type")
	}
	c.lost = true
	return c
}

// empty reports a list without elements, which MIL text cannot express.
func (c *call) empty(name string, n int) bool {
	if n > 0 {
		return false
	}
	if !c.lost {
		c.f.fault(c.kind+": "+name+": the list is empty", "give at least one; a scalar has no axes, reshape it")
	}
	c.lost = true
	return true
}

// one adds the statement and returns its result.
func (c *call) one() Value { return c.many(1)[0] }

// many adds the statement and returns its results. A faulty call returns as many as
// wanted.
func (c *call) many(wanted int) []Value {
	if c.complete(); !c.lost {
		out, notes, err := ops.Infer(c.kind, c.operands()...)
		if err == nil {
			c.f.b.note(notes...)
			return c.write(out)
		}
		c.f.refuse("", err)
	}
	lost := make([]Value, wanted)
	for i := range lost {
		lost[i] = c.f.lost()
	}
	return lost
}

// complete adds the settings that are not given, with their defaults.
func (c *call) complete() {
	if c.def != nil {
		for _, p := range c.def.Params {
			if p.Const && p.Default != nil && !c.has(p.Name) {
				c.put(p.Name, c.defaultOf(&p))
			}
		}
	}
	c.constants()
}

// has reports whether an argument is given.
func (c *call) has(name string) bool {
	return slices.ContainsFunc(c.args, func(a argument) bool { return a.name == name })
}

// constants makes constants of all settings, in the order of their names. Equal settings of a function share one.
func (c *call) constants() {
	slices.SortFunc(c.args, func(a, b argument) int { return cmp.Compare(a.name, b.name) })
	for i, a := range c.args {
		for _, m := range a.settings {
			n := c.f.setting(c.kind, a.name, m)
			c.args[i].nodes = append(c.args[i].nodes, n)
			c.lost = c.lost || n.v == nil
		}
		c.args[i].settings = nil
	}
}

// defaultOf returns the default of a setting as put takes it. Lists have an element for each axis of x, for each
// spatial axis where a window slides, or a pair of paddings for each of those.
func (c *call) defaultOf(p *ops.Param) any {
	n := c.first().rank()
	if c.def.Family == ops.Products || c.def.Family == ops.Pools {
		n = max(n-2, 1)
	}
	if p.Name == "pad" {
		n *= 2
	}
	switch d := p.Default.(type) {
	case int:
		if p.Kind == ops.Ints {
			return slices.Repeat([]int{d}, n)
		}
	case bool:
		if p.Kind == ops.Bools {
			return slices.Repeat([]bool{d}, n)
		}
	case string:
		if d == ops.AllAxes {
			axes := make([]int, n)
			for i := range axes {
				axes[i] = i
			}
			return axes
		}
	case float64:
		if p.Kind == ops.Element {
			return element{c.first().dtype(), d}
		}
	}
	return p.Default
}

// setting returns the constant of a setting.
func (f *Func) setting(kind, name string, m *mil.Value) *node {
	key := fmt.Sprintf("%s %v %v", name, m.Type, m.Literal)
	n := f.shared[key]
	if n == nil {
		n = f.constant("", kind+": "+name, m).n
		n.base = name
		n.number()
		if n.v != nil {
			f.shared[key] = n
		}
	}
	return n
}

// operands returns the arguments for ops.Infer.
func (c *call) operands() []ops.Operand {
	operands := make([]ops.Operand, len(c.args))
	for i, a := range c.args {
		operands[i] = ops.Operand{Name: a.name, List: a.list}
		for _, n := range a.nodes {
			operands[i].Values = append(operands[i].Values, n.v)
		}
	}
	return operands
}

// write adds the statement with its results.
func (c *call) write(out []*ops.Value) []Value {
	s := statement{kind: c.kind, args: c.args}
	values := make([]Value, len(out))
	for i, v := range out {
		n := &node{f: c.f, v: v, base: c.kind}
		n.number()
		s.results = append(s.results, n)
		values[i] = Value{n}
	}
	c.f.body = append(c.f.body, s)
	return values
}

// number sets the name of a node in messages. The program uses the same name unless
// the caller takes that name for another value, or names the node with Output.
func (n *node) number() {
	if n.v != nil && n.v.Name == "" {
		n.v.Name = numbered(n, n.f.counts[n.base])
		n.f.counts[n.base]++
	}
}

// numbered returns generated name i of n: conv_0, conv_1 for results, and strides,
// strides_1 for settings.
func numbered(n *node, i int) string {
	if n.kind == constant && n.base != "const" && i == 0 {
		return n.base
	}
	return fmt.Sprintf("%s_%d", n.base, i)
}
