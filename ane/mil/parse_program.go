package mil

func (p *parser) program() *Program {
	prog := &Program{Pos: p.tok.pos}
	const form = "a program starts with program(1.3) {"
	if !p.try(func() {
		if !p.tok.is("program") {
			panic(p.expected(`"program"`, p.meant("program")+form))
		}
		p.next()
		p.want('(', "after program", form)
		if p.tok.kind != tokNumber || !decimalVersion(p.tok.text) {
			panic(p.expected("a version number", "write program(1.3) or program(1.0)"))
		}
		prog.Version = p.tok.text
		p.next()
		p.want(')', "after the version", form)
		p.endLine()
	}) {
		return prog
	}
	if !p.try(func() {
		if p.attrs(&prog.Attrs); len(prog.Attrs) > 0 {
			p.endLine()
		}
		p.want('{', "before the functions", "write program(1.3) [attributes] { func .. }")
		p.endLine()
	}) {
		p.toFunc()
	}
	for p.tok.is("func") {
		if f := p.function(); f != nil {
			prog.Funcs = append(prog.Funcs, f)
		}
		if p.tok.kind != '}' && p.tok.kind != tokEOF && !p.tok.is("func") {
			p.expected(`"func" or the closing "}" of the program`, p.meant("func")+"a program holds functions only")
			p.toFunc()
		}
	}
	if p.tok.kind != '}' {
		p.expected(`"func" or the closing "}" of the program`, p.meant("func")+"a program holds functions only")
		return prog
	}
	p.next()
	p.endLine()
	if p.tok.kind != tokEOF {
		p.expected("end of file", "a text holds one program")
	}
	return prog
}

// decimalVersion reports whether s has the form of a version: digits with an optional fraction.
func decimalVersion(s string) bool {
	n := span(s, digits)
	if n < len(s) && s[n] == '.' {
		n += 1 + span(s[n+1:], digits)
	}
	return n == len(s) && validNumber(s)
}

// toFunc skips to the next function, or to the end of the program.
func (p *parser) toFunc() {
	for p.tok.kind != tokEOF {
		if p.tok.is("func") && p.ahead.kind == tokIdent || p.tok.kind == '}' && p.ahead.kind == tokEOF {
			return
		}
		p.next()
	}
}

// function reads a function from the word func to the semicolon after its results.
func (p *parser) function() *Function {
	const form = "a function starts with func main<ios18>(tensor<fp16, [1, 64, 1, 32]> x) {"
	p.next()
	f := &Function{Pos: p.tok.pos}
	if !p.try(func() { f.Name = p.name("the name of a function") }) {
		p.toFunc()
		return nil
	}
	if !p.try(func() {
		p.want('<', "and the opset after the function's name", form)
		f.Opset = p.name("an opset")
		p.want('>', "after the opset", form)
		p.want('(', "before the parameters", form)
		p.list(')', "a parameter", func() { p.variable(&f.Params, "a parameter") })
		p.attrs(&f.Attrs)
	}) {
		p.lost[f] = true
		p.toBody(f)
	} else if !p.try(func() {
		if p.tok.kind == tokArrow {
			panic(p.fault(p.tok.pos, "results come after the body", "end the body with } -> (y);"))
		}
		p.want('{', "before the body of the function", form)
		p.endLine()
	}) {
		p.toBody(f)
	}
	p.body(f, &f.Body)
	if !p.try(func() { p.results(f) }) {
		p.lost[f] = true
		p.toFunc()
	}
	return f
}

// toBody skips to the first statement after a broken header.
func (p *parser) toBody(f *Function) {
	for p.tok.kind != tokEOF && p.tok.kind != ';' && p.tok.kind != '}' {
		if p.tok.kind == '{' {
			p.next()
			return
		}
		p.next()
	}
	p.lost[f] = true
}

// returned reads the closing brace of a body and the names after it into list.
func (p *parser) returned(list *[]Ref, of, form string) {
	p.want('}', "at the end of "+of, form)
	p.want(tokArrow, "and the results of "+of, form)
	p.want('(', "before the results", form)
	p.list(')', "a result", func() {
		pos := p.tok.pos
		*list = append(*list, Ref{pos, p.name("the name of a result")})
	})
}

// results reads the end of a function: } -> (y);
func (p *parser) results(f *Function) {
	const form = "a function ends with } -> (y);"
	p.returned(&f.Results, "the function", form)
	if !p.got(';') {
		p.report(p.prevEnd, `";" is missing after the results`, form)
	}
	p.endLine()
}
