package mil

import "slices"

// FuncBuilder makes one function of a Builder. The Refs it returns are valid in this function only.
type FuncBuilder struct {
	b  *Builder
	fn Function
}

// A names an operand.
func A(name string, value Operand) Arg { return Arg{Name: name, Value: value} }

// Refs returns the operand of a variadic argument, such as values = (a, b).
func Refs(items ...Ref) *Values {
	v := &Values{}
	for _, r := range items {
		v.Items = append(v.Items, r)
	}
	return v
}

// V declares a result for Ops.
func V(t Type, name string) Var { return Var{Type: t, Name: name} }

func (f *FuncBuilder) fault(msg, hint string) {
	f.b.faults.add(&Error{Msg: "function " + shorten(f.fn.Name) + ": " + msg, Hint: hint})
}

// named reports a name that is a reserved word. Validate checks the rest of its form.
func (f *FuncBuilder) named(name, what string) {
	if typeWord(name) {
		f.fault(what+" "+quoteShort(name)+" is a reserved word", "choose another name")
	}
}

// Input adds a tensor parameter. The Neural Engine takes fp16 of rank 4, and binds parameters by name.
func (f *FuncBuilder) Input(name string, d DType, shape ...int) Ref {
	return f.InputOf(name, TensorOf(d, shape...))
}

// InputOf adds a parameter of any type, such as a state.
func (f *FuncBuilder) InputOf(name string, t Type) Ref {
	f.named(name, "parameter")
	f.fn.Params = append(f.fn.Params, Var{Name: name, Type: t})
	return Ref{Name: name}
}

// Const adds a constant with the type of v, labeled with its name.
func (f *FuncBuilder) Const(name string, v *Value) Ref {
	if v == nil {
		f.fault("constant "+quoteShort(name)+" has no value", "make one with FP16Scalar, Int32s, Floats ..")
		return Ref{Name: name}
	}
	f.named(name, "constant")
	f.fn.Body = append(f.fn.Body, &Op{
		Kind:    "const",
		Results: []Var{{Name: name, Type: v.Type}},
		Attrs:   []Arg{label(name), A("val", v)},
	})
	return Ref{Name: name}
}

// Blob adds a constant whose elements are in a weight file. The path starts with @model_path/, the directory of the
// model; offset is where the entry's metadata starts in bytes, 64 for the first entry of a file.
func (f *FuncBuilder) Blob(name string, t Type, path string, offset uint64) Ref {
	return f.Const(name, BlobValue(t, path, offset))
}

// Op adds a statement with one result.
func (f *FuncBuilder) Op(kind string, t Type, name string, args ...Arg) Ref {
	return f.Ops(kind, []Var{V(t, name)}, args...)[0]
}

// Ops adds a statement with any number of results and returns a Ref to each.
// The label is the name of the first; without results there is none.
func (f *FuncBuilder) Ops(kind string, results []Var, args ...Arg) []Ref {
	op := &Op{Kind: kind, Args: slices.Clone(args), Results: slices.Clone(results)}
	refs := make([]Ref, 0, len(results))
	for _, r := range results {
		f.named(r.Name, "result")
		refs = append(refs, Ref{Name: r.Name})
	}
	if len(results) > 0 {
		op.Attrs = []Arg{label(results[0].Name)}
	}
	f.fn.Body = append(f.fn.Body, op)
	return refs
}

// Output adds results of the function, in order.
func (f *FuncBuilder) Output(results ...Ref) { f.fn.Results = append(f.fn.Results, results...) }

// label returns the attribute that labels a statement.
func label(name string) Arg { return A("name", StringScalar(name)) }
