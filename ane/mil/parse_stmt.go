package mil

// body reads statements up to the closing brace into list, resuming after broken ones.
func (p *parser) body(f *Function, list *[]*Op) {
	for p.tok.kind != '}' && p.tok.kind != tokEOF && !(p.tok.is("func") && p.ahead.kind == tokIdent) {
		if p.got(';') {
			p.startLine()
			continue
		}
		op := &Op{}
		ok := p.try(func() { p.statement(f, op) })
		if len(op.Results) > 0 || op.Kind != "" {
			*list = append(*list, op)
		}
		switch {
		case !ok, p.tok.kind == tokIllegal:
			p.toStatement(f, op)
		case p.got(';'):
			p.endLine()
		default:
			p.report(p.prevEnd, `";" is missing after the statement`, "end every statement with ;")
			if p.tok.pos.Line == p.prevEnd.Line {
				p.toStatement(f, op)
			}
		}
	}
}

// toStatement skips from inside op to the text after the next semicolon, or to the end of the function. It marks names
// as lost if the parser read no operator of op, or if the skipped text spans lines and so may contain other statements.
func (p *parser) toStatement(f *Function, op *Op) {
	line := p.tok.pos.Line
	for before := tokEOF; p.tok.kind != tokEOF; {
		switch {
		case p.tok.kind == '{' && (before == ')' || before == ']'):
			p.skipBlock(f) // to the parenthesis that ends it
		case p.tok.kind == ';':
			if op.Kind == "" || p.tok.pos.Line != line {
				p.lost[f] = true
			}
			p.next()
			return
		case p.tok.kind == '}' && (p.ahead.kind == tokArrow || p.ahead.kind == tokEOF),
			p.tok.is("func") && p.ahead.kind == tokIdent:
			p.lost[f] = true
			return
		}
		before = p.tok.kind
		p.next()
	}
	p.lost[f] = true
}

// statement reads a statement without its semicolon into op.
func (p *parser) statement(f *Function, op *Op) {
	p.declared(op)
	op.Pos = p.tok.pos
	kind := p.tok.text
	if p.tok.is("const") {
		p.next()
	} else {
		p.name("an operator")
		if p.tok.kind == '<' {
			p.opset(op)
		}
	}
	if !p.got('(') {
		panic(p.expected(`"(" and arguments after the operator `+shorten(kind), "write "+shorten(kind)+"(x = a, ..)"))
	}
	op.Kind = kind
	p.arguments(&op.Args, ')')
	p.attrs(&op.Attrs)
	if p.blocks(f, op); len(op.Attrs) == 0 {
		p.attrs(&op.Attrs)
	}
}

// declared reads the results of a statement and the equals sign after them. A statement may have no results.
func (p *parser) declared(op *Op) {
	const form = "a statement is written tensor<fp16, [1, 64, 1, 32]> y = mul(x = a, y = b);"
	parens := p.got('(')
	if !parens {
		switch {
		case p.tok.is("return"):
			op.Kind = p.tok.text // a statement that declares nothing: no names are lost
			panic(p.fault(p.tok.pos, `"return" is not a statement`, "end the body with } -> (y);"))
		case p.tok.kind != tokIdent:
			panic(p.expected("a statement", form))
		case p.ahead.kind == ':' || p.untyped():
		case !typeWord(p.tok.text) && p.ahead.kind != tokIdent &&
			(p.ahead.kind != '<' || opsetNumber(p.third().text) > 0):
			return
		}
	}
	for more := true; more; more = p.got(',') {
		p.variable(&op.Results, "a result")
	}
	if parens {
		p.want(')', "after the results", form)
	}
	p.want('=', "after the results", form)
}

// variable adds a type and a name to list. It reports a name before its type (x: type) and a
// name without type, and reads on.
func (p *parser) variable(list *[]Var, what string) {
	v := Var{Pos: p.tok.pos, At: p.tok.pos}
	switch {
	case p.tok.kind == tokIdent && p.ahead.kind == ':':
		v.Name = p.tok.text
		p.next()
		colon := p.tok.pos
		p.next()
		v.Pos = p.tok.pos
		v.Type = p.typ()
		p.report(colon, `unexpected ":"`, "the type comes before the name: write "+shorten(v.Type.String()+" "+v.Name))
	case p.untyped():
		v.Name = p.tok.text
		p.report(v.At, quoteShort(v.Name)+" has no type",
			"write its type before the name, such as tensor<fp16, [1, 64, 1, 32]> "+shorten(v.Name))
		p.next()
	default:
		v.Type = p.typ()
		v.At = p.tok.pos
		v.Name = p.name("the name of " + what)
	}
	*list = append(*list, v)
}

// untyped reports whether a name without type comes next.
func (p *parser) untyped() bool {
	if p.tok.kind != tokIdent || typeWord(p.tok.text) || reserved(p.tok.text) {
		return false
	}
	return p.ahead.kind == '=' || p.ahead.kind == ',' || p.ahead.kind == ')'
}

// attrs reads bracketed attributes into list, if there are any.
func (p *parser) attrs(list *[]Arg) {
	if p.got('[') {
		p.arguments(list, ']')
	}
}

// arguments reads named operands up to and including the closing punctuation into list.
func (p *parser) arguments(list *[]Arg, end rune) {
	defer func(outer bool) { p.attributes = outer }(p.attributes)
	p.attributes = end == ']'
	gather(p, &p.args, list, end, "an argument", p.argument)
}

func (p *parser) argument() Arg {
	const form = "arguments are named: write x = "
	word, after := p.tok, p.ahead
	switch {
	case word.kind == tokIdent && after.kind == '=':
		p.next()
		p.next()
		return Arg{word.pos, word.text, p.operand(word.text)}
	case word.kind == tokIdent && (after.kind == ',' || after.kind == ')' || after.kind == ']'):
		p.report(word.pos, "argument without a name", form+shorten(word.text))
	case word.kind == tokIdent && after.kind == ':':
		p.report(after.pos, `unexpected ":"`, "write "+shorten(word.text)+" = and the value")
	case word.kind == tokIdent && after.kind == tokIllegal: // the scanner reported it
	case word.kind == tokIdent:
		p.report(after.pos, `expected "=" after the name of an argument, found `+after.String(), form+"and the value")
	case word.kind == tokNumber || word.kind == tokString || word.kind == '[':
		p.report(word.pos, "argument without a name", "arguments are named and typed, such as axis = int32(1)")
	default:
		p.expected("the name of an argument", form+"and the value")
	}
	panic(unreadable{})
}
