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
	args []ops.Operand
	// literals are the settings among args that are no constants yet, by name.
	literals map[string][]*mil.Value
	lost     bool // an argument is faulty, and its fault is recorded
}

// Optional is an argument that a caller may leave out. One of another operator is a fault. Methods take:
//
//	Conv                           Strides, Padding, PadType, Dilations, Groups
//	ConvTranspose                  those of Conv, OutputShape, Bias
//	MaxPool, L2Pool                Strides, Padding, PadType, CeilMode
//	AvgPool                        those of MaxPool, ExcludePadding
//	Matmul                         TransposeX, TransposeY
//	Linear                         Bias
//	ScaledDotProductAttention      AttnMask
//	reductions                     KeepDims; ReduceArgmax and ReduceArgmin also IndexType
//	norms                          Gamma, Beta, Epsilon; L2Norm Epsilon alone
//	SliceByIndex, SliceUpdate(At)  Strides, BeginMask, EndMask, SqueezeMask
//	Pad                            PadMode, PadValue
//	CropResize                     BoxIndices
//	Gather, GatherNd               BatchDims, ValidateIndices
//	GatherAlongAxis                ValidateIndices
//	Scatter and its kin            ScatterMode, ValidateIndices
//	Topk                           Ascending, IndexType
//	Cumsum                         Exclusive, Backward
//	Quantize, Dequantize           Axis, ZeroPoint
//	ConstexprLutToDense            VectorAxis, PackedShape
type Optional interface{ set(*call) }

// call starts a call. Each of args is for the next parameter that it fits: Value and []Value for a tensor that is not
// optional, other types for a setting of their kind.
func (f *Func) call(kind string, args ...any) *call {
	f.own()
	c := &call{f: f, kind: kind, def: ops.Lookup(kind), literals: map[string][]*mil.Value{}}
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
func with[O Optional](f *Func, options []O, kind string, args ...any) *call {
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
		return p.Kind == ops.Number || p.Kind == ops.Element
	case string, mil.DType:
		return p.Kind == ops.Word
	}
	return p.Const // *mil.Value and element
}

// put adds an argument called name, in place of an earlier one. An empty word stands for the default.
func (c *call) put(name string, value any) *call {
	c.remove(name)
	switch v := value.(type) {
	case Value:
		c.tensors(name, false, v)
	case []Value:
		c.tensors(name, true, v...)
	default:
		if m := c.literal(name, v); m != nil {
			c.list(name, false, m)
		}
	}
	return c
}

// list adds settings, in parentheses or a single one.
func (c *call) list(name string, list bool, settings ...*mil.Value) {
	c.args = append(c.args, ops.Operand{Name: name, List: list})
	c.literals[name] = settings
}

func (c *call) remove(name string) {
	c.args = slices.DeleteFunc(c.args, func(a ops.Operand) bool { return a.Name == name })
	delete(c.literals, name)
}

// has reports whether an argument is given.
func (c *call) has(name string) bool {
	return slices.ContainsFunc(c.args, func(a ops.Operand) bool { return a.Name == name })
}

// tensors adds an argument of tensors.
func (c *call) tensors(name string, list bool, values ...Value) {
	a := ops.Operand{Name: name, List: list}
	for i, v := range values {
		what := c.kind + ": " + name
		if list {
			what += fmt.Sprintf("[%d]", i)
		}
		t := c.f.take(what, v)
		a.Values = append(a.Values, t)
		c.lost = c.lost || t == nil
	}
	c.args = append(c.args, a)
}

// literal returns a setting as a literal, or nil for the default and for a fault.
func (c *call) literal(name string, value any) *mil.Value {
	switch v := value.(type) {
	case int:
		return mil.IntScalar(c.integers(name), v)
	case []int:
		if len(v) > 0 {
			return mil.Ints(mil.TensorOf(c.integers(name), len(v)), v)
		}
	case []bool:
		if len(v) > 0 {
			return mil.BoolVec(v...)
		}
	case bool:
		return mil.BoolScalar(v)
	case float64:
		d := c.first().DType
		if p := c.def.Param(name); p != nil && p.Kind == ops.Number && d != mil.FP32 {
			d = mil.FP16
		}
		return c.element(name, element{d, v})
	case string:
		if v == "" {
			return nil
		}
		return mil.StringScalar(v)
	case mil.DType:
		return mil.StringScalar(v.String())
	case element:
		return c.element(name, v)
	case *mil.Value:
		return v
	}
	c.fail(name+": the list is empty", "give at least one; a scalar has no axes, reshape it")
	return nil
}

// integers returns the type of an integer setting.
func (c *call) integers(name string) mil.DType {
	if p := c.def.Param(name); p != nil && len(p.Types) > 0 {
		return p.Types[0]
	}
	return mil.Int32
}

// fail records a fault of an argument, unless the call has one.
func (c *call) fail(msg, hint string) {
	if !c.lost {
		c.f.fault(c.kind+": "+msg, hint)
	}
	c.lost = true
}

// first is the first operand, one without type and axes if it is faulty.
func (c *call) first() *ops.Value {
	for _, a := range c.args {
		if len(a.Values) > 0 {
			return Value{v: a.Values[0]}.tensor()
		}
	}
	return &ops.Value{}
}

// element is a single number of a type; for bool, 0 or 1.
type element struct {
	dtype  mil.DType
	number float64
}

func (c *call) element(name string, e element) *mil.Value {
	x, d := e.number, e.dtype
	switch {
	case d == mil.FP32:
		return mil.FP32Scalar(x)
	case d == mil.Bool && (x == 0 || x == 1):
		return mil.BoolScalar(x == 1)
	case d.Integer() && x == math.Trunc(x) && math.Abs(x) <= math.MaxUint32:
		return mil.IntScalar(d, int(x))
	case d == mil.FP16:
		return mil.FP16Scalar(x)
	}
	c.fail(fmt.Sprintf("%s: %v is not of type %v", name, x, d), "give a number of the type")
	return nil
}

// one adds the statement and returns its result.
func (c *call) one() Value { return c.many(1)[0] }

// many adds the statement and returns its results. A faulty call returns as many as wanted.
func (c *call) many(wanted int) []Value {
	if c.complete(); !c.lost {
		out, notes, err := ops.Infer(c.kind, c.args...)
		if err == nil {
			c.f.b.note(notes...)
			return c.write(out)
		}
		c.f.refuse("", err)
	}
	return slices.Repeat([]Value{c.f.lost()}, wanted)
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

// constants makes constants of all settings, in the order of their names. Equal settings of a function share one.
func (c *call) constants() {
	slices.SortFunc(c.args, func(a, b ops.Operand) int { return cmp.Compare(a.Name, b.Name) })
	for i, a := range c.args {
		for _, m := range c.literals[a.Name] {
			v := c.f.unnamed(c.kind+": "+a.Name, m, label{base: a.Name, setting: true}).v
			c.args[i].Values = append(c.args[i].Values, v)
			c.lost = c.lost || v == nil
		}
	}
	clear(c.literals)
}

// defaultOf returns the default of a setting as put takes it. Lists have an element for each axis of x, for each
// spatial axis where a window slides, or a pair of paddings for each of those.
func (c *call) defaultOf(p *ops.Param) any {
	n := c.first().Rank()
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
	}
	return p.Default
}

// write adds the statement with its results.
func (c *call) write(out []*ops.Value) []Value {
	c.f.body = append(c.f.body, statement{c.kind, c.args, out})
	values := make([]Value, len(out))
	for i, v := range out {
		c.f.generate(label{v: v, base: c.kind})
		values[i] = Value{c.f, v}
	}
	return values
}
