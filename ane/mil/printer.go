package mil

import (
	"strconv"
	"strings"
)

// Print returns the canonical text of p: one statement per line, four spaces of
// indentation per level, one space after a comma. Numbers keep their spelling.
// The text of a program that Validate accepts parses to an Equal program.
func Print(p *Program) []byte {
	var b strings.Builder
	pr := printer{out: &b}
	if p != nil {
		pr.program(p)
	}
	return []byte(b.String())
}

// printer writes text. It stops going deeper at twice MaxNesting, so that a
// malformed tree cannot exhaust the stack.
type printer struct {
	out   *strings.Builder
	depth int
}

func (p *printer) write(parts ...string) {
	for _, s := range parts {
		p.out.WriteString(s)
	}
}

func (p *printer) program(prog *Program) {
	p.write("program(", prog.Version, ")\n")
	if len(prog.Attrs) > 0 {
		p.args("[", prog.Attrs, "]\n")
	}
	p.write("{\n")
	for _, f := range prog.Funcs {
		if f != nil {
			p.function(f)
		}
	}
	p.write("}\n")
}

func (p *printer) function(f *Function) {
	p.write("    func ", f.Name, "<", f.Opset, ">(")
	for i, v := range f.Params {
		p.comma(i)
		p.write(v.Type.String(), " ", v.Name)
	}
	p.write(")")
	if len(f.Attrs) > 0 {
		p.args(" [", f.Attrs, "]")
	}
	p.write(" {\n")
	for _, op := range f.Body {
		if op != nil {
			p.statement(op)
		}
	}
	p.write("    } -> (")
	for i, r := range f.Results {
		p.comma(i)
		p.write(r.Name)
	}
	p.write(");\n")
}

func (p *printer) statement(op *Op) {
	p.write("        ")
	for i, v := range op.Results {
		p.comma(i)
		p.write(v.Type.String(), " ", v.Name)
	}
	if len(op.Results) > 0 {
		p.write(" = ")
	}
	p.write(op.Kind)
	p.args("(", op.Args, ")")
	if len(op.Attrs) > 0 {
		p.args("[", op.Attrs, "]")
	}
	p.write(";\n")
}

func (p *printer) comma(i int) {
	if i > 0 {
		p.write(", ")
	}
}

func (p *printer) args(open string, args []Arg, end string) {
	p.write(open)
	for i, a := range args {
		p.comma(i)
		p.write(a.Name, " = ")
		p.operand(a.Value)
	}
	p.write(end)
}

func (p *printer) operand(o Operand) {
	if p.depth++; p.depth <= 2*MaxNesting {
		switch o := o.(type) {
		case Ref:
			p.write(o.Name)
		case *Value:
			p.value(o)
		case *Values:
			p.values(o)
		case *Nested:
			p.nested(o)
		}
	}
	p.depth--
}

func (p *printer) values(v *Values) {
	if v == nil {
		return
	}
	p.write("(")
	for i, item := range v.Items {
		p.comma(i)
		p.operand(item)
	}
	p.write(")")
}

func (p *printer) nested(n *Nested) {
	if n == nil {
		return
	}
	p.write("const")
	p.args("(", n.Args, ")")
	if len(n.Attrs) > 0 {
		p.args("[", n.Attrs, "]")
	}
}

func (p *printer) value(v *Value) {
	if v == nil {
		return
	}
	if v.Bare() {
		p.literal(v.Literal)
		return
	}
	p.write(v.Type.String(), "(")
	p.literal(v.Literal)
	p.write(")")
}

func (p *printer) literal(l Literal) {
	if p.depth++; p.depth <= 2*MaxNesting {
		switch l := l.(type) {
		case Number:
			p.write(l.Text)
		case BoolLit:
			p.write(strconv.FormatBool(l.Value))
		case StringLit:
			p.write(quote(l.Value))
		case *Value:
			p.value(l)
		case *Blob:
			p.blob(l)
		case *ListLit:
			if l != nil {
				p.literals("[", l.Items, "]")
			}
		case *TupleLit:
			if l != nil {
				p.literals("(", l.Items, ")")
			}
		case *DictLit:
			p.dict(l)
		}
	}
	p.depth--
}

func (p *printer) literals(open string, items []Literal, end string) {
	p.write(open)
	for i, l := range items {
		p.comma(i)
		p.literal(l)
	}
	p.write(end)
}

func (p *printer) dict(d *DictLit) {
	if d == nil {
		return
	}
	p.write("{")
	for i, pair := range d.Pairs {
		p.comma(i)
		p.literals("{", []Literal{pair.Key, pair.Value}, "}")
	}
	p.write("}")
}

func (p *printer) blob(b *Blob) {
	if b == nil {
		return
	}
	p.write("BLOBFILE(path = ")
	p.value(b.Path)
	p.write(", offset = ")
	p.value(b.Offset)
	p.write(")")
}
