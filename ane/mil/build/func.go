package build

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// Func is one function of a program. Its Values belong to it alone. Builder.Func makes a
// Func; the zero Func belongs to no program, and passing a Value of it to another Func is
// a fault.
type Func struct {
	b      *Builder
	name   string
	place  place
	params []*node
	body   []statement
	outs   []*node
	ends   bool             // Output was called
	names  map[string]place // names that the caller chose, and the line
	counts map[string]int   // number of values named after each operator
	shared map[string]*node // settings and scalars, by value
	stray  bool             // Builder.Func did not make it
}

// statement is one line of the body: a constant, or an operator.
type statement struct {
	constant *node
	kind     string
	args     []argument // sorted by name
	results  []*node
}

// own gives a zero Func a Builder of its own, from which no program is made.
func (f *Func) own() {
	if f.b == nil {
		*f = Func{b: &Builder{}, names: map[string]place{}, counts: map[string]int{}, shared: map[string]*node{},
			stray: true}
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
		f.refuse("", err)
		return f.lost()
	}
	n := &node{f: f, v: v, kind: input, name: name}
	f.params = append(f.params, n)
	return Value{n}
}

// Output makes v a result of the function, called name. An output must be the result
// of an operator, and has one name.
func (f *Func) Output(name string, v Value) {
	f.ends = true
	n := f.take("output "+quote(name), v)
	if !f.claim("output", name) || n == nil {
		return
	}
	var why string
	switch {
	case n.kind == input:
		why = "is an input"
	case n.kind == constant:
		why = "is a constant"
	case n.name != "":
		why = "is already output " + quote(n.name)
	default:
		n.name = name
		f.outs = append(f.outs, n)
		return
	}
	f.fault("output "+quote(name)+" "+why, "multiply it by one: f.Mul(x, f.Scalar(1))")
}

// Const adds a constant whose elements are in the text.
func (f *Func) Const(name string, value *mil.Value) Value {
	if !f.claim("constant", name) {
		return f.lost()
	}
	return f.constant(name, "constant "+quote(name), value)
}

// Scalar returns an fp16 constant. Equal numbers share one constant.
func (f *Func) Scalar(x float64) Value {
	f.own()
	key := fmt.Sprintf("scalar %x", x)
	if n := f.shared[key]; n != nil {
		return Value{n}
	}
	v := f.constant("", "scalar", mil.FP16Scalar(x))
	v.n.base = "const"
	v.n.number()
	f.shared[key] = v.n
	return v
}

// constant adds a constant; name may be empty. what describes it in messages.
func (f *Func) constant(name, what string, m *mil.Value) Value {
	v, notes, err := ops.Constant(m)
	if err == nil {
		err = m.Check()
	}
	if err != nil {
		f.refuse(what+": ", err)
		return f.lost()
	}
	for _, n := range notes {
		f.b.note(what + ": " + n)
	}
	v.Name = name
	n := &node{f: f, v: v, kind: constant, name: name, lit: m}
	f.body = append(f.body, statement{constant: n})
	return Value{n}
}

// claim records name as chosen by the caller, or reports a fault and returns false.
func (f *Func) claim(what, name string) bool {
	f.own()
	if !mil.ValidName(name) {
		f.fault(what+" "+quote(name)+" is not a name", nameHint)
		return false
	}
	if first, taken := f.names[name]; taken {
		f.fault(what+" "+quote(name)+" is defined twice", "the first is at "+first.String()+"; rename one")
		return false
	}
	f.names[name] = caller()
	return true
}

// take returns the node of an operand, nil for a missing or faulty one.
func (f *Func) take(what string, v Value) *node {
	switch n := v.n; {
	case n == nil:
		f.fault(what+": no value", "pass what Input, Weight, Const or an operator returned")
	case n.f != f && n.f.stray:
		f.fault(what+": the value belongs to a zero Func", "make the function with Builder.Func")
	case n.f.b != f.b:
		f.fault(what+": the value belongs to another program", "build both with one Builder")
	case n.f != f:
		f.fault(what+": the value belongs to function "+quote(n.f.name),
			"pass it as an input, or use Share for a weight")
	case n.v != nil:
		return n
	}
	return nil
}

func (f *Func) fault(msg, hint string) {
	f.own()
	f.b.fault(&mil.Error{Msg: msg, Hint: hint})
}

// refuse records the faults in err.
func (f *Func) refuse(prefix string, err error) {
	var list mil.ErrorList
	if !errors.As(err, &list) {
		var e *mil.Error
		if !errors.As(err, &e) {
			e = &mil.Error{Msg: err.Error(), Err: err}
		}
		list = mil.ErrorList{e}
	}
	for _, e := range list {
		copied := *e
		copied.Msg = prefix + e.Msg
		f.b.fault(&copied)
	}
}
