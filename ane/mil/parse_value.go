package mil

// operand reads the operand of the argument called name. It reports a literal without a type, and reads on, except for
// a number or a truth value between parentheses.
func (p *parser) operand(name string) Operand {
	p.enter()
	defer p.leave()
	word := p.tok
	switch word.kind {
	case '(':
		v := &Values{Pos: word.pos}
		p.next()
		gather(p, &p.operands, &v.Items, ')', "an operand", func() Operand { return p.operand(name) })
		return v
	case tokNumber, tokString, '[', '{':
		return p.bare(name)
	case tokIdent:
	default:
		panic(p.expected("an operand", "write "+shorten(name)+" = x for a value, or a typed literal such as int32(1)"))
	}
	switch {
	case word.text == "true", word.text == "false", word.text == "inf", word.text == "nan":
		return p.bare(name)
	case typeWord(word.text) && (p.ahead.kind == '(' || p.ahead.kind == '<'):
		return p.value()
	case p.ahead.kind != '(':
		return Ref{word.pos, p.name("the name of a value")}
	case word.text == "const":
		n := &Nested{Pos: word.pos}
		p.next()
		p.next()
		p.arguments(&n.Args, ')')
		p.attrs(&n.Attrs)
		return n
	case word.text == "BLOBFILE":
		panic(p.fault(word.pos, "BLOBFILE without a type",
			"write tensor<fp16, [..]>(BLOBFILE(path = string(\"..\"), offset = uint64(64)))"))
	}
	panic(p.fault(word.pos, shorten(word.text)+"(..) is neither a typed literal nor a value",
		"give the operation a statement of its own and name its result here"))
}

// bare reads a literal without a type. It reports all but numbers and truth values of
// arguments. The returned Value has no type.
func (p *parser) bare(name string) *Value {
	tok := p.tok
	v := &Value{Pos: tok.pos, Literal: p.literal()}
	if v.Bare() && !p.attributes {
		return v
	}
	what := tok.String()
	if tok.kind == '[' || tok.kind == '{' {
		what = "a bracketed list"
	}
	p.report(v.Pos, what+" has no type", "write "+shorten(name)+" = "+typed(v.Literal))
	return v
}

func (p *parser) value() *Value {
	v := &Value{Pos: p.tok.pos}
	v.Type = p.typ()
	if !p.got('(') {
		panic(p.expected(`"(" and a literal after the type`, "write "+shorten(v.Type.String())+"(..)"))
	}
	v.Literal = p.literal()
	if !p.got(')') {
		panic(p.expected(`")" after the literal`, "write "+shorten(v.Type.String())+"(..)"))
	}
	return v
}

// literal reads the content of a value.
func (p *parser) literal() Literal {
	t := p.tok
	switch t.kind {
	case tokNumber:
		p.next()
		return Number{t.pos, t.text}
	case tokString:
		p.next()
		return StringLit{t.pos, t.text}
	}
	p.enter()
	defer p.leave()
	switch t.kind {
	case '[':
		l := &ListLit{Pos: t.pos}
		p.items(&l.Items, ']')
		return l
	case '(':
		l := &TupleLit{Pos: t.pos}
		p.items(&l.Items, ')')
		return l
	case '{':
		return p.dict()
	}
	switch {
	case t.is("true"), t.is("false"):
		p.next()
		return BoolLit{t.pos, t.text == "true"}
	case t.is("inf"), t.is("nan"):
		p.next()
		return Number{t.pos, t.text}
	case t.is("BLOBFILE"):
		return p.blob()
	case t.kind == tokIdent && typeWord(t.text):
		return p.value()
	case t.kind == tokIdent:
		panic(p.expected("a literal", p.meant("true", "false", "inf", "nan", "BLOBFILE")+
			"names of values cannot stand inside a literal"))
	}
	panic(p.expected("a literal", `literals are numbers, true, false, "..", [..], {..}, (..) and BLOBFILE(..)`))
}

// items reads a list from its opening punctuation to the closing one.
func (p *parser) items(list *[]Literal, end rune) {
	p.next()
	gather(p, &p.literals, list, end, "an element", p.literal)
}

// dict reads {{key, value}, ..}.
func (p *parser) dict() *DictLit {
	const form = `a dict is written {{"key", "value"}, {"key", "value"}}`
	d := &DictLit{Pos: p.tok.pos}
	p.next()
	p.list('}', "a pair", func() {
		p.want('{', "before a pair", form)
		key := p.literal()
		p.want(',', "after the key", form)
		d.Pairs = append(d.Pairs, Pair{key, p.literal()})
		p.want('}', "after a pair", form)
	})
	return d
}

// blob reads BLOBFILE(path = .., offset = ..), in either order.
func (p *parser) blob() *Blob {
	const form = `write BLOBFILE(path = string("@model_path/weights/w.bin"), offset = uint64(64))`
	b := &Blob{Pos: p.tok.pos}
	p.next()
	p.want('(', "after BLOBFILE", form)
	p.list(')', "an argument of BLOBFILE", func() {
		name := p.tok
		field := map[string]**Value{"path": &b.Path, "offset": &b.Offset}[name.text]
		if name.kind != tokIdent || field == nil {
			panic(p.expected("path or offset", p.meant("path", "offset")+form))
		}
		if *field != nil {
			panic(p.fault(name.pos, name.text+" is given twice", form))
		}
		p.next()
		p.want('=', "after "+name.text, form)
		if p.tok.kind != tokIdent || !typeWord(p.tok.text) {
			panic(p.expected("a typed literal", form))
		}
		*field = p.value()
	})
	if b.Path == nil || b.Offset == nil {
		panic(p.fault(b.Pos, "BLOBFILE needs path and offset", form))
	}
	return b
}
