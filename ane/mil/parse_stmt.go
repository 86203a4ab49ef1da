package mil

// body reads statements up to the closing brace, resuming after broken ones.
func (p *parser) body(f *Function) {
	for p.tok.kind != '}' && p.tok.kind != tokEOF && !(p.tok.is("func") && p.ahead.kind == tokIdent) {
		if p.got(';') {
			continue
		}
		op := &Op{}
		ok := p.statement(op)
		if len(op.Results) > 0 || op.Kind != "" {
			f.Body = append(f.Body, op)
		}
		if !ok {
			p.toStatement(f, op)
			continue
		}
		if p.got(';') {
			continue
		}
		if p.tok.kind != tokIllegal {
			p.report(p.prevEnd, `";" is missing after the statement`, "end every statement with ;")
		}
		if p.tok.kind == tokIllegal || p.tok.pos.Line == p.prevEnd.Line {
			p.toStatement(f, op)
		}
	}
}

// toStatement skips from inside op to the text after the next semicolon, or to the end
// of the function. It marks names as lost if the parser read no operator of op, or if
// the skipped text spans lines and so may contain other statements.
func (p *parser) toStatement(f *Function, op *Op) {
	line := p.tok.pos.Line
	for p.tok.kind != tokEOF {
		switch {
		case p.tok.kind == ';':
			if op.Kind == "" || p.tok.pos.Line != line {
				p.lose(f)
			}
			p.next()
			return
		case p.tok.kind == '}' && (p.ahead.kind == tokArrow || p.ahead.kind == tokEOF),
			p.tok.is("func") && p.ahead.kind == tokIdent:
			p.lose(f)
			return
		}
		p.next()
	}
	p.lose(f)
}

// statement reads a statement without its semicolon into op, up to its first fault.
func (p *parser) statement(op *Op) bool {
	ok := p.declared(op)
	if !ok {
		return false
	}
	op.Pos = p.tok.pos
	kind := p.tok.text
	if p.tok.is("const") {
		p.next()
	} else if kind, ok = p.name("an operator"); !ok {
		return false
	}
	if !p.got('(') {
		return p.expected(`"(" and arguments after the operator `+shorten(kind), "write "+shorten(kind)+"(x = a, ..)")
	}
	op.Kind = kind
	if op.Args, ok = p.arguments(')'); !ok {
		return false
	}
	op.Attrs, ok = p.attrs()
	return ok
}

// declared reads the results of a statement and the equals sign after them. A
// statement may have no results.
func (p *parser) declared(op *Op) bool {
	const form = "a statement is written tensor<fp16, [1, 64, 1, 32]> y = mul(x = a, y = b);"
	parens := p.got('(')
	if !parens {
		switch {
		case p.tok.is("return"):
			op.Kind = p.tok.text // a statement that declares nothing: no names are lost
			p.report(p.tok.pos, `"return" is not a statement`, "end the body with } -> (y);")
			return false
		case p.tok.kind != tokIdent:
			return p.expected("a statement", form)
		case p.ahead.kind == ':' || p.untyped():
		case !typeWord(p.tok.text) && p.ahead.kind != tokIdent && p.ahead.kind != '<':
			return true
		}
	}
	for more := true; more; more = p.got(',') {
		if !p.variable(&op.Results, "a result") {
			return false
		}
	}
	if parens && !p.want(')', "after the results", form) {
		return false
	}
	return p.want('=', "after the results", form)
}

// variable adds a type and a name to list. It reports a name before its type (x: type) and a
// name without type, and reads on.
func (p *parser) variable(list *[]Var, what string) (ok bool) {
	v := Var{Pos: p.tok.pos, At: p.tok.pos}
	switch {
	case p.tok.kind == tokIdent && p.ahead.kind == ':':
		v.Name = p.tok.text
		p.next()
		colon := p.tok.pos
		p.next()
		v.Pos = p.tok.pos
		if v.Type, ok = p.typ(); ok {
			p.report(colon, `unexpected ":"`, "the type comes before the name: write "+shorten(v.Type.String()+" "+
				v.Name))
		}
	case p.untyped():
		v.Name, ok = p.tok.text, true
		p.report(v.At, quoteShort(v.Name)+" has no type",
			"write its type before the name, such as tensor<fp16, [1, 64, 1, 32]> "+shorten(v.Name))
		p.next()
	default:
		if v.Type, ok = p.typ(); ok {
			v.At = p.tok.pos
			v.Name, ok = p.name("the name of " + what)
		}
	}
	if ok {
		*list = append(*list, v)
	}
	return ok
}

// untyped reports whether a name without type comes next.
func (p *parser) untyped() bool {
	if p.tok.kind != tokIdent || typeWord(p.tok.text) || reserved(p.tok.text) {
		return false
	}
	return p.ahead.kind == '=' || p.ahead.kind == ',' || p.ahead.kind == ')'
}

// attrs reads bracketed attributes, if there are any.
func (p *parser) attrs() ([]Arg, bool) {
	if !p.got('[') {
		return nil, true
	}
	return p.arguments(']')
}

// arguments reads named operands up to and including the closing punctuation. After a
// fault it returns those before it.
func (p *parser) arguments(end rune) ([]Arg, bool) {
	start, outer := len(p.args), p.attributes
	p.attributes = end == ']'
	ok := p.list(end, "an argument", p.argument)
	p.attributes = outer
	return cutOff(&p.args, start), ok
}

// argument reads one named operand.
func (p *parser) argument() bool {
	a := Arg{Pos: p.tok.pos, Name: p.tok.text}
	if !p.argName() {
		return false
	}
	p.next()
	p.next()
	var ok bool
	if a.Value, ok = p.operand(a.Name); ok {
		p.args = append(p.args, a)
	}
	return ok
}

// argName checks that a name and an equals sign come next.
func (p *parser) argName() bool {
	const form = "arguments are named: write x = "
	switch {
	case p.tok.kind == tokIdent && p.ahead.kind == '=':
		return true
	case p.tok.kind == tokIdent && (p.ahead.kind == ',' || p.ahead.kind == ')' || p.ahead.kind == ']'):
		p.report(p.tok.pos, "argument without a name", form+shorten(p.tok.text))
	case p.tok.kind == tokIdent && p.ahead.kind == ':':
		p.report(p.ahead.pos, `unexpected ":"`, "write "+shorten(p.tok.text)+" = and the value")
	case p.tok.kind == tokIdent && p.ahead.kind == tokIllegal: // the scanner reported it
	case p.tok.kind == tokIdent:
		p.report(p.ahead.pos, `expected "=" after the name of an argument, found `+p.ahead.String(),
			form+"and the value")
	case p.tok.kind == tokNumber || p.tok.kind == tokString || p.tok.kind == '[':
		p.report(p.tok.pos, "argument without a name", "arguments are named and typed, such as axis = int32(1)")
	default:
		p.expected("the name of an argument", form+"and the value")
	}
	return false
}
