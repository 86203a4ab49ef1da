package mil

// operand reads the operand of the argument called name. It reports a literal
// without a type, and reads on, except for a number or a truth value between
// parentheses.
func (p *parser) operand(name string) (Operand, bool) {
	if !p.enter() {
		return nil, false
	}
	defer p.leave()
	switch p.tok.kind {
	case '(':
		return p.values(name)
	case tokNumber, tokString, '[', '{':
		return p.bare(name)
	case tokIdent:
	default:
		return nil, p.expected("an operand", "write "+shorten(name)+" = x for a value, or a typed literal such as "+
			"int32(1)")
	}
	word := p.tok
	switch {
	case word.text == "const" && p.ahead.kind == '(':
		return p.nested()
	case word.text == "true", word.text == "false", word.text == "inf", word.text == "nan":
		return p.bare(name)
	case typeWord(word.text) && (p.ahead.kind == '(' || p.ahead.kind == '<'):
		return p.value()
	case p.ahead.kind == '(' && word.text == "BLOBFILE":
		p.report(word.pos, "BLOBFILE without a type",
			"write tensor<fp16, [..]>(BLOBFILE(path = string(\"..\"), offset = uint64(64)))")
		return nil, false
	case p.ahead.kind == '(':
		p.report(word.pos, shorten(word.text)+"(..) is neither a typed literal nor a value",
			"give the operation a statement of its own and name its result here")
		return nil, false
	}
	s, ok := p.name("the name of a value")
	return Ref{word.pos, s}, ok
}

// values reads a parenthesized list of operands.
func (p *parser) values(name string) (Operand, bool) {
	v := &Values{Pos: p.tok.pos}
	p.next()
	start := len(p.operands)
	ok := p.list(')', "an operand", func() bool {
		o, ok := p.operand(name)
		if ok {
			p.operands = append(p.operands, o)
		}
		return ok
	})
	v.Items = cutOff(&p.operands, start)
	return v, ok
}

// nested reads a const in place of an operand.
func (p *parser) nested() (Operand, bool) {
	n := &Nested{Pos: p.tok.pos}
	p.next()
	p.next()
	var ok bool
	if n.Args, ok = p.arguments(')'); !ok {
		return nil, false
	}
	n.Attrs, ok = p.attrs()
	return n, ok
}

// bare reads a literal without a type. It reports all but numbers and truth values of
// arguments. The returned Value has no type.
func (p *parser) bare(name string) (Operand, bool) {
	pos, tok := p.tok.pos, p.tok
	l, ok := p.literal()
	if !ok {
		return nil, false
	}
	v := &Value{Pos: pos, Literal: l}
	if v.Bare() && !p.attributes {
		return v, true
	}
	what := tok.String()
	if tok.kind == '[' || tok.kind == '{' {
		what = "a bracketed list"
	}
	p.report(pos, what+" has no type", "write "+shorten(name)+" = "+typed(l))
	return v, true
}

// value reads a typed literal.
func (p *parser) value() (*Value, bool) {
	v := &Value{Pos: p.tok.pos}
	var ok bool
	if v.Type, ok = p.typ(); !ok {
		return nil, false
	}
	if !p.got('(') {
		return nil, p.expected(`"(" and a literal after the type`, "write "+shorten(v.Type.String())+"(..)")
	}
	if v.Literal, ok = p.literal(); !ok {
		return nil, false
	}
	if !p.got(')') {
		return nil, p.expected(`")" after the literal`, "write "+shorten(v.Type.String())+"(..)")
	}
	return v, true
}

// literal reads the content of a value.
func (p *parser) literal() (_ Literal, ok bool) {
	switch p.tok.kind {
	case tokNumber:
		n := Number{p.tok.pos, p.tok.text}
		p.next()
		return n, true
	case tokString:
		s := StringLit{p.tok.pos, p.tok.text}
		p.next()
		return s, true
	}
	if !p.enter() {
		return nil, false
	}
	defer p.leave()
	switch p.tok.kind {
	case '[':
		l := &ListLit{Pos: p.tok.pos}
		l.Items, ok = p.items(']')
		return l, ok
	case '(':
		t := &TupleLit{Pos: p.tok.pos}
		t.Items, ok = p.items(')')
		return t, ok
	case '{':
		return p.dict()
	case tokIdent:
		return p.word()
	}
	return nil, p.expected("a literal", `literals are numbers, true, false, "..", [..], {..}, (..) and BLOBFILE(..)`)
}

// word reads a literal that starts with a word.
func (p *parser) word() (Literal, bool) {
	t := p.tok
	switch {
	case t.text == "true" || t.text == "false":
		p.next()
		return BoolLit{t.pos, t.text == "true"}, true
	case t.text == "inf" || t.text == "nan":
		p.next()
		return Number{t.pos, t.text}, true
	case t.text == "BLOBFILE":
		return p.blob()
	case typeWord(t.text):
		v, ok := p.value()
		return v, ok
	}
	return nil, p.expected("a literal", p.meant("true", "false", "inf", "nan",
		"BLOBFILE")+"names of values cannot stand inside a literal")
}

// items reads a list from its opening punctuation to the closing one.
func (p *parser) items(end rune) ([]Literal, bool) {
	p.next()
	start := len(p.literals)
	ok := p.list(end, "an element", func() bool {
		l, ok := p.literal()
		if ok {
			p.literals = append(p.literals, l)
		}
		return ok
	})
	return cutOff(&p.literals, start), ok
}

// dict reads {{key, value}, ..}.
func (p *parser) dict() (Literal, bool) {
	const form = `a dict is written {{"key", "value"}, {"key", "value"}}`
	d := &DictLit{Pos: p.tok.pos}
	p.next()
	ok := p.list('}', "a pair", func() bool {
		if !p.want('{', "before a pair", form) {
			return false
		}
		k, ok := p.literal()
		if !ok || !p.want(',', "after the key", form) {
			return false
		}
		v, ok := p.literal()
		d.Pairs = append(d.Pairs, Pair{k, v})
		return ok && p.want('}', "after a pair", form)
	})
	return d, ok
}

// blob reads BLOBFILE(path = .., offset = ..), in either order.
func (p *parser) blob() (Literal, bool) {
	const form = `write BLOBFILE(path = string("@model_path/weights/w.bin"), offset = uint64(64))`
	b := &Blob{Pos: p.tok.pos}
	p.next()
	if !p.want('(', "after BLOBFILE", form) {
		return nil, false
	}
	if !p.list(')', "an argument of BLOBFILE", func() (ok bool) {
		name := p.tok
		field := map[string]**Value{"path": &b.Path, "offset": &b.Offset}[name.text]
		if name.kind != tokIdent || field == nil {
			return p.expected("path or offset", p.meant("path", "offset")+form)
		}
		if *field != nil {
			p.report(name.pos, name.text+" is given twice", form)
			return false
		}
		p.next()
		if !p.want('=', "after "+name.text, form) {
			return false
		}
		if p.tok.kind != tokIdent || !typeWord(p.tok.text) {
			return p.expected("a typed literal", form)
		}
		*field, ok = p.value()
		return ok
	}) {
		return nil, false
	}
	if b.Path == nil || b.Offset == nil {
		p.report(b.Pos, "BLOBFILE needs path and offset", form)
		return nil, false
	}
	return b, true
}
