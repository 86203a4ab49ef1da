package build

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// call gathers the arguments of one operator.
type call struct {
	f    *Func
	kind string
	args []argument
	lost bool // an argument is faulty, and its fault is recorded
}

// argument is an argument of a call.
type argument struct {
	name  string
	nodes []*node
	list  bool // written in parentheses
}

// given returns the options that are not nil.
func given[O any](options []O) []O {
	return slices.DeleteFunc(slices.Clone(options), func(o O) bool { return any(o) == nil })
}

func (f *Func) call(kind string) *call {
	f.own()
	return &call{f: f, kind: kind}
}

// value adds a tensor argument.
func (c *call) value(name string, v Value) *call {
	if n := c.f.take(c.kind+": "+name, v); n != nil {
		c.args = append(c.args, argument{name: name, nodes: []*node{n}})
	} else {
		c.lost = true
	}
	return c
}

// values adds an argument that is a list of tensors.
func (c *call) values(name string, list []Value) *call {
	a := argument{name: name, list: true}
	for i, v := range list {
		if n := c.f.take(fmt.Sprintf("%s: %s[%d]", c.kind, name, i), v); n != nil {
			a.nodes = append(a.nodes, n)
		} else {
			c.lost = true
		}
	}
	c.args = append(c.args, a)
	return c
}

// setting adds a constant argument. Equal settings of a function share one constant;
// said is the value to compare.
func (c *call) setting(name string, said any, m *mil.Value) *call {
	key := fmt.Sprintf("%s %v %v", name, m.Type, said)
	n := c.f.shared[key]
	if n == nil {
		n = c.f.constant("", c.kind+": "+name, m).n
		n.base = name
		n.number()
		if n.v != nil {
			c.f.shared[key] = n
		}
	}
	c.args = append(c.args, argument{name: name, nodes: []*node{n}})
	c.lost = c.lost || n.v == nil
	return c
}

func (c *call) ints(name string, list []int) *call {
	if c.empty(name, len(list)) {
		return c
	}
	return c.setting(name, list, mil.Int32s(list...))
}

func (c *call) bools(name string, list []bool) *call {
	if c.empty(name, len(list)) {
		return c
	}
	return c.setting(name, list, mil.BoolVec(list...))
}

// empty reports a list without elements, which MIL text cannot express.
func (c *call) empty(name string, n int) bool {
	if n == 0 {
		if !c.lost {
			c.f.fault(c.kind+": "+name+": the list is empty", "give at least one; a scalar has no axes, reshape it")
		}
		c.lost = true
	}
	return n == 0
}

func (c *call) int(name string, n int) *call   { return c.setting(name, n, mil.Int32Scalar(n)) }
func (c *call) bool(name string, b bool) *call { return c.setting(name, b, mil.BoolScalar(b)) }
func (c *call) word(name, s string) *call      { return c.setting(name, s, mil.StringScalar(s)) }

// number adds a floating-point number, of the type of like if that is a float type.
func (c *call) number(name string, x float64, like Value) *call {
	if like.dtype() == mil.FP32 {
		return c.setting(name, fmt.Sprintf("%x", x), mil.FP32Scalar(x))
	}
	return c.setting(name, fmt.Sprintf("%x", x), mil.FP16Scalar(x))
}

// one adds the statement and returns its result.
func (c *call) one() Value { return c.many(1)[0] }

// many adds the statement and returns its results. A faulty call returns as many as
// wanted.
func (c *call) many(wanted int) []Value {
	if !c.lost {
		out, notes, err := ops.Infer(c.kind, c.operands()...)
		if err == nil {
			c.f.b.note(notes...)
			return c.add(out)
		}
		c.f.refuse("", err)
	}
	lost := make([]Value, wanted)
	for i := range lost {
		lost[i] = c.f.lost()
	}
	return lost
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

// shape returns the shape of the result that the call would have, nil for a faulty call.
func (c *call) shape() []int {
	if c.lost {
		return nil
	}
	out, _, err := ops.Infer(c.kind, c.operands()...)
	if err != nil {
		return nil // one reports it
	}
	return out[0].Shape
}

// add adds the statement with its results.
func (c *call) add(out []*ops.Value) []Value {
	slices.SortFunc(c.args, func(a, b argument) int { return cmp.Compare(a.name, b.name) })
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
