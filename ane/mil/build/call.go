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
	f     *Func
	kind  string
	def   *ops.Def      // nil in Op, which writes what it is given and nothing else
	args  []ops.Operand // by name
	first Value         // the first tensor
	lost  bool          // an argument is faulty, and its fault is recorded
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

// call starts a call with the arguments of the first parameters in the order of the table: Values, []Values and
// settings, nil for one that is left out. Options come last; later ones replace earlier ones, and nil is none.
func (f *Func) call(kind string, args ...any) *call {
	f.own()
	c := &call{f: f, kind: kind, def: ops.Lookup(kind)}
	for i, a := range args {
		switch a := a.(type) {
		case nil:
		case []Optional:
			for _, o := range a {
				if o != nil {
					o.set(c)
				}
			}
		default:
			c.put(c.def.Params[i].Name, a)
		}
	}
	return c
}

// given returns an argument of call, which is left out if it is zero.
func given[T comparable](v T) any {
	if v == *new(T) {
		return nil
	}
	return v
}

// each makes options of those of one type.
func each[O Optional](options []O) (list []Optional) {
	for _, o := range options {
		list = append(list, o)
	}
	return list
}

func (f *Func) plain(kind string, args ...any) Value { return f.call(kind, args...).one() }

// put adds an argument called name, in place of an earlier one. An empty word stands for the default.
func (c *call) put(name string, value any) *call {
	a := ops.Operand{Name: name}
	add := func(v *ops.Value) { a.Values, c.lost = append(a.Values, v), c.lost || v == nil }
	switch v := value.(type) {
	case Value:
		add(c.tensor(name, v))
	case []Value:
		a.List = true
		for i, v := range v {
			add(c.tensor(fmt.Sprintf("%s[%d]", name, i), v))
		}
	case *mil.Value:
		if v != nil { // else literal recorded the fault
			add(c.f.shared(name, c.kind+": "+name, v))
		}
	default:
		if c.drop(name); value != "" {
			c.put(name, c.literal(name, value))
		}
		return c
	}
	i, given := c.at(name)
	if !given {
		c.args = slices.Insert(c.args, i, a)
	}
	c.args[i] = a
	return c
}

// at is the place of an argument, and whether it is given.
func (c *call) at(name string) (int, bool) {
	return slices.BinarySearchFunc(c.args, name, func(a ops.Operand, name string) int {
		return cmp.Compare(a.Name, name)
	})
}

// drop takes an argument back.
func (c *call) drop(name string) {
	if i, given := c.at(name); given {
		c.args = slices.Delete(c.args, i, i+1)
	}
}

// tensor returns the tensor of an argument, nil for a faulty one.
func (c *call) tensor(what string, v Value) *ops.Value {
	if c.first.f == nil {
		c.first = v
	}
	return c.f.take(c.kind+": "+what, v)
}

func (c *call) has(name string) bool {
	_, given := c.at(name)
	return given
}

// literal returns a setting as a literal, nil for a fault.
func (c *call) literal(name string, value any) *mil.Value {
	whole, float := mil.Int32, c.first.tensor().DType
	if p := c.def.Param(name); p != nil {
		if p.Const && p.Types != nil {
			whole = p.Types[0]
		}
		if p.Kind == ops.Number && float != mil.FP32 {
			float = mil.FP16
		}
	}
	switch v := value.(type) {
	case int:
		return mil.IntScalar(whole, v)
	case []int:
		if len(v) > 0 {
			return mil.Ints(mil.TensorOf(whole, len(v)), v)
		}
	case []bool:
		if len(v) > 0 {
			return mil.BoolVec(v...)
		}
	case bool:
		return mil.BoolScalar(v)
	case float64:
		return c.element(name, element{float, v})
	case string:
		return mil.StringScalar(v)
	case mil.DType:
		return mil.StringScalar(v.String())
	case element:
		return c.element(name, v)
	}
	c.fail(name+": the list is empty", "give at least one; a scalar has no axes, reshape it")
	return nil
}

// fail records a fault of an argument, unless the call has one.
func (c *call) fail(msg, hint string) {
	if !c.lost {
		c.f.fault(c.kind+": "+msg, hint)
	}
	c.lost = true
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

func (c *call) one() Value { return c.many(1)[0] }

// shaped adds the statement, with the shape of its result as the setting called name, and returns the result.
func (c *call) shaped(name string) Value {
	out := c.infer()
	if c.lost {
		return c.f.lost()
	}
	return c.put(name, out[0].Shape).write(out)[0]
}

func (c *call) two() (a, b Value) {
	both := c.many(2)
	return both[0], both[1]
}

// many adds the statement and returns its results. A faulty call returns as many as wanted.
func (c *call) many(wanted int) []Value {
	if out := c.infer(); !c.lost {
		return c.write(out)
	}
	return slices.Repeat([]Value{c.f.lost()}, wanted)
}

// infer adds the settings that are not given, with their defaults, and returns the results.
func (c *call) infer() (out []*ops.Value) {
	for i := 0; c.def != nil && !c.lost && i < len(c.def.Params); i++ {
		if p := c.def.Params[i]; p.Const && p.Default != nil && !c.has(p.Name) {
			c.put(p.Name, c.def.Written(p, c.first.tensor().Rank()))
		}
	}
	if c.lost {
		return nil
	}
	out, notes, err := ops.Lookup(c.kind).Infer(c.args...)
	if c.lost = err != nil; c.lost {
		c.f.refuse("", err)
	} else {
		c.f.b.noteOn(c.f.name, c.kind, notes)
	}
	return out
}

// write adds the statement with its results, after those of its constants that are new.
func (c *call) write(out []*ops.Value) []Value {
	args := c.args
	for _, a := range args {
		for _, v := range a.Values {
			c.f.define(label{v: v, base: a.Name, setting: true})
		}
	}
	c.f.body = append(c.f.body, func(fb *mil.FuncBuilder) {
		var named []mil.Arg
		for _, a := range args {
			if refs := references(a.Values); a.List {
				named = append(named, mil.A(a.Name, mil.Refs(refs...)))
			} else {
				named = append(named, mil.A(a.Name, refs[0]))
			}
		}
		var results []mil.Var
		for _, v := range out {
			results = append(results, mil.V(v.Type(), v.Name))
		}
		fb.Ops(c.kind, results, named...)
	})
	values := make([]Value, len(out))
	for i, v := range out {
		c.f.generate(label{v: v, base: c.kind})
		values[i] = Value{c.f, v}
	}
	return values
}
