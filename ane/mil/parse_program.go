package mil

// program reads the whole text.
func (p *parser) program() *Program {
	prog := &Program{Pos: p.tok.pos}
	const form = "a program starts with program(1.3) {"
	if !p.tok.is("program") {
		p.expected(`"program"`, p.meant("program")+form)
		return prog
	}
	p.next()
	if !p.want('(', "after program", form) || !p.version(prog) || !p.want(')', "after the version", form) {
		return prog
	}
	var ok bool
	if prog.Attrs, ok = p.attrs(); !ok {
		p.toFunc()
	} else if !p.want('{', "before the functions", "write program(1.3) [attributes] { func .. }") {
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
	if p.tok.kind != tokEOF {
		p.expected("end of file", "a text holds one program")
	}
	return prog
}

func (p *parser) version(prog *Program) bool {
	if p.tok.kind != tokNumber || !decimalVersion(p.tok.text) {
		return p.expected("a version number", "write program(1.3) or program(1.0)")
	}
	prog.Version = p.tok.text
	p.next()
	return true
}

// decimalVersion reports whether s has the form of a version: digits with an
// optional fraction.
func decimalVersion(s string) bool {
	n := span(s, digit)
	if n < len(s) && s[n] == '.' {
		n += 1 + span(s[n+1:], digit)
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
	var ok bool
	if f.Name, ok = p.name("the name of a function"); !ok {
		p.toFunc()
		return nil
	}
	if !p.header(f, form) {
		p.lose(f)
		p.toBody(f)
	} else if p.tok.kind == tokArrow {
		p.report(p.tok.pos, "results come after the body", "end the body with } -> (y);")
		p.toBody(f)
	} else if !p.want('{', "before the body of the function", form) {
		p.toBody(f)
	}
	p.body(f)
	if !p.results(f) {
		p.lose(f)
		p.toFunc()
	}
	return f
}

// header reads opset, parameters and attributes.
func (p *parser) header(f *Function, form string) bool {
	if !p.want('<', "and the opset after the function's name", form) {
		return false
	}
	var ok bool
	if f.Opset, ok = p.name("an opset"); !ok {
		return false
	}
	if !p.want('>', "after the opset", form) || !p.want('(', "before the parameters", form) {
		return false
	}
	if !p.list(')', "a parameter", func() bool { return p.variable(&f.Params, "a parameter") }) {
		return false
	}
	f.Attrs, ok = p.attrs()
	return ok
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
	p.lose(f)
}

// lose records that names of f may be missing from the tree.
func (p *parser) lose(f *Function) {
	if p.lost == nil {
		p.lost = map[*Function]bool{}
	}
	p.lost[f] = true
}

// results reads the end of a function: } -> (y);
func (p *parser) results(f *Function) bool {
	const form = "a function ends with } -> (y);"
	if p.tok.kind != '}' {
		return p.expected(`"}" at the end of the function`, form)
	}
	p.next()
	if p.tok.kind != tokArrow {
		return p.expected(`"->" and the results of the function`, form)
	}
	p.next()
	if !p.want('(', "before the results", form) {
		return false
	}
	if !p.list(')', "a result", func() bool {
		pos := p.tok.pos
		name, ok := p.name("the name of a result")
		if ok {
			f.Results = append(f.Results, Ref{pos, name})
		}
		return ok
	}) {
		return false
	}
	if !p.got(';') {
		p.report(p.prevEnd, `";" is missing after the results`, form)
	}
	return true
}
