package build

import (
	"errors"
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// Func is one function of a program. Its Values belong to it alone. Builder.Func makes a Func; the zero Func belongs to
// no program, and passing a Value of it to another Func is a fault.
//
// The caller names inputs, weights, constants and outputs; these names are unique in a function. Other results are
// named after their operator, conv_0, and settings after their argument, strides, strides_1. The same calls give the
// same text.
type Func struct {
	b         *Builder
	name      string
	place     place
	params    []*ops.Value
	body      []func(*mil.FuncBuilder) // writes the statements
	outs      []*ops.Value
	ends      bool                  // Output was called
	names     map[string]label      // taken ones
	counts    map[string]int        // number of names generated from each base
	constants map[string]*ops.Value // settings and scalars, by value; those without a name are not in the body
}

// own gives a zero Func a Builder of its own, from which no program is made.
func (f *Func) own() {
	if f.b == nil {
		*f = *new(Builder).Func("main")
	}
}

// Input adds a parameter. The engine binds parameters by name, in the order of the
// bytes of their names; it takes tensors of fp16, on newer chips fp32 and bool.
func (f *Func) Input(name string, d mil.DType, shape ...int) Value {
	return f.parameter("input", name, mil.TensorOf(d, shape...))
}

// parameter adds a parameter, which messages call what.
func (f *Func) parameter(what, name string, t mil.Type) Value {
	if !f.claim(what, name) {
		return f.lost()
	}
	v, err := ops.Parameter(mil.V(t, name))
	if err != nil {
		return f.refuse("", err)
	}
	f.params = append(f.params, v)
	return Value{f, v}
}

// Output makes v a result of the function, called name. An output must be the result of an operator, and has one name.
func (f *Func) Output(name string, v Value) {
	f.ends = true
	t := f.take("output "+quote(name), v)
	if !f.claim("output", name) || t == nil {
		return
	}
	var why string
	switch {
	case slices.Contains(f.params, t):
		why = "is an input"
	case t.Literal != nil:
		why = "is a constant"
	case slices.Contains(f.outs, t):
		why = "is already output " + quote(t.Name)
	default:
		delete(f.names, t.Name)
		t.Name = name
		f.outs = append(f.outs, t)
		return
	}
	f.fault("output "+quote(name)+" "+why, "multiply it by one: f.Mul(x, f.Scalar(1))")
}

// Const adds a constant whose elements are in the text.
func (f *Func) Const(name string, value *mil.Value) Value { return f.named("constant", name, value) }

// named adds a constant, which messages call what.
func (f *Func) named(what, name string, m *mil.Value) Value {
	if !f.claim(what, name) {
		return f.lost()
	}
	v := f.constant(what+" "+quote(name), m)
	if v != nil {
		v.Name = name
		f.add(v)
	}
	return Value{f, v}
}

// Scalar returns an fp16 constant. Equal numbers share one constant.
func (f *Func) Scalar(x float64) Value {
	f.own()
	v := f.shared("const", "scalar", mil.FP16Scalar(x))
	f.define(label{v: v, base: "const"})
	return Value{f, v}
}

// shared returns a constant whose name will begin with base, nil for a fault. Equal ones of a base are one.
func (f *Func) shared(base, what string, m *mil.Value) *ops.Value {
	key := fmt.Sprintf("%s %v %v", base, m.Type, m.Literal)
	if f.constants[key] == nil {
		f.constants[key] = f.constant(what, m)
	}
	return f.constants[key]
}

// define adds a constant to the body and names it, unless it has a name.
func (f *Func) define(n label) {
	if n.v.Name == "" {
		f.generate(n)
		f.add(n.v)
	}
}

func (f *Func) add(v *ops.Value) {
	f.body = append(f.body, func(fb *mil.FuncBuilder) { fb.Const(v.Name, v.Literal) })
}

// constant returns a constant without a name, nil for a fault. what describes it in messages.
func (f *Func) constant(what string, m *mil.Value) *ops.Value {
	v, notes, err := ops.Constant(m)
	if err == nil {
		err = m.Check()
	}
	if err != nil {
		f.refuse(what+": ", err)
		return nil
	}
	for _, n := range notes {
		f.b.note(what + ": " + n)
	}
	v.Name, v.Literal = "", m
	return v
}

// take returns the tensor of an operand, nil for a missing or faulty one.
func (f *Func) take(what string, v Value) *ops.Value {
	t := f.ours(what, v)
	if t != nil && v.f != f {
		f.fault(what+": the value belongs to function "+quote(v.f.name),
			"pass it as an input, or use Share for a weight")
		return nil
	}
	return t
}

// ours returns the tensor of a Value of this program, nil for a missing or faulty one.
func (f *Func) ours(what string, v Value) *ops.Value {
	switch {
	case v.f == nil:
		f.fault(what+": no value", "pass what Input, Weight, Const or an operator returned")
	case v.f != f && !slices.Contains(v.f.b.funcs, v.f):
		f.fault(what+": the value belongs to a zero Func", "make the function with Builder.Func")
	case v.f.b != f.b:
		f.fault(what+": the value belongs to another program", "build both with one Builder")
	default:
		return v.v
	}
	return nil
}

// fault records a fault and returns the Value of a faulty call.
func (f *Func) fault(msg, hint string) Value {
	f.own()
	f.b.fault(&mil.Error{Msg: msg, Hint: hint})
	return f.lost()
}

// refuse records the faults in err and returns the Value of a faulty call.
func (f *Func) refuse(prefix string, err error) Value {
	var list mil.ErrorList
	if !errors.As(err, &list) {
		list = mil.ErrorList{{Msg: err.Error(), Err: err}}
	}
	for _, e := range list {
		e.Msg = prefix + e.Msg
		f.b.fault(e)
	}
	return f.lost()
}

// State adds a parameter that holds a tensor from one evaluation to the next. It belongs to the loaded program: it is
// all zero after a load, and no request binds memory to it. ReadState, WriteState and CoremlUpdateState take it.
func (f *Func) State(name string, d mil.DType, shape ...int) Value {
	return f.parameter("state", name, mil.StateOf(mil.TensorOf(d, shape...)))
}

// WriteState has a state hold x from this point of the function on.
func (f *Func) WriteState(state, x Value) { f.call("write_state", state, x).many(0) }

// label is a taken name of a function: the caller's, or a generated one.
type label struct {
	at      place      // where the caller chose it
	v       *ops.Value // that has the generated name, else nil
	base    string     // its start
	setting bool
}

// claim records a name as chosen by the caller, or reports a fault and returns false. A value whose generated name it
// is gets another one.
func (f *Func) claim(what, chosen string) bool {
	f.own()
	if !mil.ValidName(chosen) {
		f.fault(what+" "+quote(chosen)+" is not a name", nameHint)
		return false
	}
	old, taken := f.names[chosen]
	if taken && old.v == nil {
		f.fault(what+" "+quote(chosen)+" is defined twice", "the first is at "+old.at.String()+"; rename one")
		return false
	}
	f.names[chosen] = label{at: caller()}
	if taken {
		f.generate(old)
	}
	return true
}

// generate names n.v: conv_0, conv_1 for results, and strides, strides_1 for settings.
func (f *Func) generate(n label) {
	for taken := true; taken; _, taken = f.names[n.v.Name] {
		i := f.counts[n.base]
		f.counts[n.base]++
		if n.v.Name = fmt.Sprintf("%s_%d", n.base, i); n.setting && i == 0 {
			n.v.Name = n.base
		}
	}
	f.names[n.v.Name] = n
}

// Value is a tensor of a Func: an input, a weight, a constant or a result. The zero Value is invalid.
type Value struct {
	f *Func
	v *ops.Value // nil if its call is faulty; Literal is that of a constant
}

func (f *Func) lost() Value { return Value{f: f} }

// tensor returns the tensor, one without type and axes if the call that made the value is faulty.
func (v Value) tensor() *ops.Value {
	if v.v == nil {
		return &ops.Value{}
	}
	return v.v
}

// Type returns the inferred type; the zero Type if the call that made the value is faulty.
func (v Value) Type() mil.Type { return v.tensor().Type() }

// Shape returns the axis lengths; nil if the call that made the value is faulty.
func (v Value) Shape() []int { return slices.Clone(v.tensor().Shape) }

// Dim returns the length of an axis; a negative axis counts from the end. It returns 0 if there is no such axis, or if
// the call that made the value is faulty.
func (v Value) Dim(axis int) int {
	shape := v.tensor().Shape
	if axis < 0 {
		axis += len(shape)
	}
	if axis < 0 || axis >= len(shape) {
		return 0
	}
	return shape[axis]
}
