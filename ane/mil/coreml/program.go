package coreml

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// program reads an ML program as the tree that Apple's compiler writes of it. Functions, parameters, arguments and
// attributes are maps in the file, so they are sorted by name here. Programs of ios18 and later are program(1.3) with
// plain scalars, earlier ones program(1.0) with boxed scalars.
func (r *reader) program(v value) *mil.Program {
	var attrs []value
	r.boxed = true
	r.each(v, func(name string, v value) {
		switch name {
		case "attributes":
			attrs = append(attrs, v)
		case "functions":
			if _, f := r.entry(v); r.opset(f) >= 18 {
				r.boxed = false
			}
		case "docString":
			r.note("the program has a docString, which MIL text cannot express")
		}
	})
	p := &mil.Program{Version: "1.0"}
	if !r.boxed {
		p.Version = "1.3"
	}
	p.Attrs = r.arguments(attrs, r.attribute)
	r.each(v, func(field string, v value) {
		if field == "functions" {
			name, content := r.entry(v)
			p.Funcs = append(p.Funcs, r.function(name, content))
		}
	})
	slices.SortStableFunc(p.Funcs, func(a, b *mil.Function) int { return cmp.Compare(a.Name, b.Name) })
	if len(p.Funcs) == 0 {
		r.fail(v.b, "convert the model again", "the program has no function")
	}
	return p
}

// opset returns the number of a function's opset, 0 if it is unknown.
func (r *reader) opset(f value) (n int) {
	r.each(f, func(name string, v value) {
		if name == "opset" {
			n, _ = strconv.Atoi(strings.TrimPrefix(opsetName(v.str()), "ios"))
		}
	})
	return n
}

// opsetName returns the name in MIL text of an opset: ios15 for CoreML5. Apple counts years from ios26, which is
// CoreML9.
func opsetName(s string) string {
	digits, ok := strings.CutPrefix(s, "CoreML")
	n, err := strconv.Atoi(digits)
	switch {
	case !ok || err != nil || n < 0 || n > 99:
		return s
	case n <= 8:
		return "ios" + strconv.Itoa(n+10)
	default:
		return "ios" + strconv.Itoa(n+17)
	}
}

func (r *reader) function(name string, v value) *mil.Function {
	f := &mil.Function{Name: rename(name)}
	var opset string
	var attrs []value
	r.each(v, func(field string, v value) {
		switch field {
		case "inputs":
			f.Params = append(f.Params, r.variable(v))
		case "opset":
			opset = v.str()
		case "attributes":
			attrs = append(attrs, v)
		}
	})
	f.Opset = opsetName(opset)
	slices.SortStableFunc(f.Params, func(a, b mil.Var) int { return cmp.Compare(a.Name, b.Name) })
	attrs = append(attrs, r.body(f, opset, v)...)
	f.Attrs = r.arguments(attrs, r.attribute)
	return f
}

// body reads the body of a function for its opset, and returns the attributes of the body.
func (r *reader) body(f *mil.Function, opset string, v value) (attrs []value) {
	var has []string // other opsets
	found := false
	r.each(v, func(field string, v value) {
		if field != "block_specializations" {
			return
		}
		key, content := r.entry(v)
		if key != opset || found {
			if len(has) < 8 {
				has = append(has, short(key))
			}
			return
		}
		var b *mil.Block
		b, attrs = r.block(content)
		found, f.Body, f.Results = true, b.Body, b.Results
		if len(b.Params) > 0 {
			r.fail(content.b, "convert the model again", "function %s has parameters of its own in its block",
				short(f.Name))
		}
	})
	switch {
	case !found:
		r.fail(v.b, "convert the model again", "function %s has no body for its opset %q; it has some for %q",
			short(f.Name), short(opset), has)
	case len(has) > 0:
		r.note("function %s has bodies for other opsets: %s", short(f.Name), strings.Join(has, ", "))
	}
	return attrs
}

// block reads a block, and returns its attributes unread.
func (r *reader) block(v value) (*mil.Block, []value) {
	b := &mil.Block{}
	var attrs []value
	r.each(v, func(name string, v value) {
		switch name {
		case "inputs":
			b.Params = append(b.Params, r.variable(v))
		case "outputs":
			b.Results = append(b.Results, mil.Ref{Name: rename(v.str())})
		case "operations":
			b.Body = append(b.Body, r.operation(v))
		case "attributes":
			attrs = append(attrs, v)
		}
	})
	if len(b.Results) == 0 {
		r.fail(v.b, "convert the model again", "a block returns nothing")
	}
	return b, attrs
}

func (r *reader) operation(v value) *mil.Op {
	op := &mil.Op{}
	var args, attrs, blocks []value
	outer := r.op
	r.each(v, func(name string, v value) {
		switch name {
		case "type":
			op.Kind = v.str()
		case "inputs":
			args = append(args, v)
		case "outputs":
			op.Results = append(op.Results, r.variable(v))
		case "blocks":
			blocks = append(blocks, v)
		case "attributes":
			attrs = append(attrs, v)
		}
	})
	r.op = op.Kind
	if len(op.Results) > 0 {
		r.op = op.Results[0].Name + " (" + op.Kind + ")"
	}
	if op.Kind == "" {
		r.fail(v.b, broken, "the operation has no type")
	}
	op.Args = r.arguments(args, r.argument)
	listed(op)
	op.Attrs = r.arguments(attrs, r.attribute)
	if op.Kind == "const" { // its value is an attribute in MIL text, whatever it is in the file
		op.Args, op.Attrs = nil, append(op.Attrs, op.Args...)
		sortArgs(op.Attrs)
	}
	for _, v := range blocks {
		b, attrs := r.block(v)
		if len(attrs) > 0 {
			r.note("blocks of %s have attributes, which MIL text cannot express", short(r.op))
		}
		op.Blocks = append(op.Blocks, b)
	}
	r.op = outer
	return op
}

// listed makes lists of single operands where the operator takes lists: values = (a). The file does not tell them from
// others.
func listed(op *mil.Op) {
	def := ops.Lookup(op.Kind)
	if def == nil {
		return
	}
	for _, p := range def.Params {
		if !p.Variadic {
			continue
		}
		if a := op.Arg(p.Name); a != nil {
			if _, ok := a.Value.(*mil.Values); !ok {
				a.Value = &mil.Values{Items: []mil.Operand{a.Value}}
			}
		}
	}
}

// variable reads a NamedValueType.
func (r *reader) variable(v value) (x mil.Var) {
	typed := false
	r.each(v, func(name string, v value) {
		switch name {
		case "name":
			x.Name = rename(v.str())
		case "type":
			x.Type, typed = r.typ(v), true
		}
	})
	if !typed {
		r.fail(v.b, broken, "%s has no type", short(x.Name))
	}
	return x
}

// arguments reads the entries of a map, in order of their names.
func (r *reader) arguments(entries []value, operand func(value) mil.Operand) []mil.Arg {
	var args []mil.Arg
	for _, e := range entries {
		name, content := r.entry(e)
		if r.err != nil {
			return nil
		}
		args = append(args, mil.Arg{Name: name, Value: operand(content)})
	}
	sortArgs(args)
	return args
}

func sortArgs(args []mil.Arg) {
	slices.SortStableFunc(args, func(a, b mil.Arg) int { return cmp.Compare(a.Name, b.Name) })
}

// attribute reads a Value.
func (r *reader) attribute(v value) mil.Operand { return r.typed(v) }

// argument reads an Argument: one operand, or a list of any other number.
func (r *reader) argument(v value) mil.Operand {
	var items []mil.Operand
	r.each(v, func(_ string, v value) {
		var item mil.Operand
		r.each(v, func(name string, v value) {
			if item = mil.Operand(mil.Ref{Name: rename(v.str())}); name == "value" {
				item = r.typed(v)
			}
		})
		if item == nil {
			r.fail(v.b, broken, "an argument is neither a name nor a value")
		}
		items = append(items, item)
	})
	if len(items) == 1 {
		return items[0]
	}
	return &mil.Values{Items: items}
}

// rename returns the name in MIL text, which has neither @ nor other marks.
func rename(name string) string {
	if mil.ValidName(name) {
		return name
	}
	clean := strings.Map(func(c rune) rune {
		if c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '_'
	}, name)
	switch {
	case clean == "":
		return "_"
	case clean[0] >= '0' && clean[0] <= '9':
		return "_" + clean
	}
	switch clean {
	case "true", "false", "inf", "nan", "const", "func", "program", "return", "BLOBFILE": // words of MIL text
		return clean + "_"
	}
	return clean
}
