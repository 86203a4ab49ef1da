package mil

import (
	"cmp"
	"strconv"
	"strings"
)

// Print returns the canonical text of p: one statement per line, four spaces of indentation per level, one space after
// a comma. Numbers keep their spelling. The text of a program that Validate accepts parses to an Equal program.
func Print(p *Program) []byte { return []byte(printed(p).out.String()) }

// Equal reports whether a and b are the same program: whether Print writes the same text of
// both. Numbers compare as written, so 1 and 1.0 differ. A tree nested deeper than twice
// MaxNesting is not equal to any tree, not even to itself.
func Equal(a, b *Program) bool {
	if a == nil || b == nil {
		return a == b
	}
	first, second := printed(a), printed(b)
	return !first.cut && !second.cut && first.out.String() == second.out.String()
}

// printer writes text. It stops going deeper at twice MaxNesting, so that a malformed tree cannot exhaust the stack.
type printer struct {
	out   strings.Builder
	depth int
	cut   bool // a part is too deep
}

func printed(prog *Program) *printer {
	p := &printer{}
	if prog == nil {
		return p
	}
	p.write("program(", prog.Version, ")\n")
	if len(prog.Attrs) > 0 {
		list(p, "[", prog.Attrs, "]\n")
	}
	p.write("{\n")
	for _, f := range prog.Funcs {
		if f != nil {
			p.function(f)
		}
	}
	p.write("}\n")
	return p
}

func (p *printer) write(parts ...string) {
	for _, s := range parts {
		p.out.WriteString(s)
	}
}

func (p *printer) function(f *Function) {
	p.write("    func ", f.Name, "<", f.Opset, ">")
	list(p, "(", f.Params, ")")
	if len(f.Attrs) > 0 {
		list(p, " [", f.Attrs, "]")
	}
	p.write(" {\n")
	for _, op := range f.Body {
		if op != nil {
			p.statement(op, 2)
		}
	}
	list(p, "    } -> (", f.Results, ");\n")
}

// statement writes one statement at a level of indentation, with its blocks two levels deeper.
func (p *printer) statement(op *Op, level int) {
	list(p, indent(level), op.Results, "")
	if len(op.Results) > 0 {
		p.write(" = ")
	}
	kind := op.Kind
	if op.Opset != "" {
		kind += "<" + op.Opset + ">"
	}
	p.call(kind, op.Args, op.Attrs)
	for i, b := range op.Blocks {
		if b != nil && p.enter() {
			p.block(b, cmp.Or(b.Name, "block"+strconv.Itoa(i)), level+1)
			p.leave()
		}
	}
	p.write(";\n")
}

// block writes a block after its statement, without what ends that.
func (p *printer) block(b *Block, name string, level int) {
	list(p, "\n"+indent(level)+name+"(", b.Params, ") {\n")
	for _, op := range b.Body {
		if op != nil {
			p.statement(op, level+1)
		}
	}
	list(p, indent(level)+"} -> (", b.Results, ")")
}

// indent returns four spaces for each level. The deepest levels have the same, so that a text is longer than its
// source by a bounded factor.
func indent(level int) string { return strings.Repeat("    ", min(level, 16)) }

// numbers writes a list of a tensor_buffer, unless it is absent.
func (p *printer) numbers(open string, items []int) {
	if items == nil {
		return
	}
	p.write(open)
	for i, n := range items {
		if i > 0 {
			p.write(", ")
		}
		p.write(strconv.Itoa(n))
	}
	p.write("]")
}

func (p *printer) call(kind string, args, attrs []Arg) {
	p.write(kind)
	list(p, "(", args, ")")
	if len(attrs) > 0 {
		list(p, "[", attrs, "]")
	}
}

func list[T any](p *printer, open string, items []T, end string) {
	p.write(open)
	for i := range items {
		if i > 0 {
			p.write(", ")
		}
		p.item(items[i])
	}
	p.write(end)
}

func (p *printer) item(item any) {
	switch item := item.(type) {
	case Var:
		p.typ(item.Type)
		p.write(" ", item.Name)
	case Arg:
		p.write(item.Name, " = ")
		p.node(item.Value)
	case Pair:
		list(p, "{", []Literal{item.Key, item.Value}, "}")
	case Dim:
		p.write(item.String())
	case Type:
		p.typ(item)
	default: // an Operand or a Literal
		p.node(item)
	}
}

// enter begins a nested part. If it returns true, the caller must call leave.
func (p *printer) enter() bool {
	if p.depth >= 2*MaxNesting {
		p.cut = true
		return false
	}
	p.depth++
	return true
}

func (p *printer) leave() { p.depth-- }

// node writes an Operand or a Literal, if there is one.
func (p *printer) node(n any) {
	if absent(n) || !p.enter() {
		return
	}
	defer p.leave()
	switch n := n.(type) {
	case Ref:
		p.write(n.Name)
	case Number:
		p.write(n.Text)
	case BoolLit:
		p.write(strconv.FormatBool(n.Value))
	case StringLit:
		p.write(quote(n.Value))
	case *Value:
		if n.Bare() {
			p.node(n.Literal)
			break
		}
		p.typ(n.Type)
		p.write("(")
		p.node(n.Literal)
		p.write(")")
	case *Values:
		list(p, "(", n.Items, ")")
	case *Nested:
		p.call("const", n.Args, n.Attrs)
	case *Blob:
		p.write("BLOBFILE(path = ")
		p.node(n.Path)
		p.write(", offset = ")
		p.node(n.Offset)
		p.write(")")
	case *ListLit:
		list(p, "[", n.Items, "]")
	case *TupleLit:
		list(p, "(", n.Items, ")")
	case *DictLit:
		list(p, "{", n.Pairs, "}")
	}
}

func (p *printer) typ(t Type) {
	if !p.enter() {
		return
	}
	defer p.leave()
	switch t.Kind {
	case Scalar:
		p.write(t.DType.String())
	case Tensor:
		p.write("tensor<", t.DType.String(), ", ")
		list(p, "[", t.Dims, "]>")
	case TensorBuffer:
		p.write("tensor_buffer<", t.DType.String())
		list(p, ", shape=[", t.Dims, "]")
		if b := t.Buffer; b != nil {
			p.numbers(", strides=[", b.Strides)
			p.numbers(", interleave_factors=[", b.Interleave)
		}
		p.write(">")
	default:
		list(p, kinds[t.Kind]+"<", t.Elems, "")
		for _, d := range t.Dims {
			p.write(", ", d.String())
		}
		p.write(">")
	}
}
