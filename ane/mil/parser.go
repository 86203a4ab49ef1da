package mil

// MaxFaults is the number of faults that Parse and Validate report before they
// stop with the fault "too many faults".
const MaxFaults = 100

// MaxNesting is how deep types, operands and literals nest. Programs in use
// stay below ten.
const MaxNesting = 100

// Parse reads MIL text. The name file goes into the faults; it is not opened.
// The error is an ErrorList of every fault that Parse and Validate found. With
// a fault the program is what could be read, and fit for no more than looking.
func Parse(file string, src []byte) (*Program, error) {
	p := &parser{faults: faults{file: file}}
	p.scan = newScanner(string(src), p.report)
	p.ahead = p.scan.next()
	p.next()
	prog := p.program()
	v := validator{faults: &p.faults, partial: len(p.faults.list) > 0, lost: p.lost}
	v.program(prog)
	return prog, p.faults.err()
}

// faults collects faults up to the limit.
type faults struct {
	file string
	list ErrorList
	full bool // more faults were found than the list holds
}

// add collects a fault and reports whether there was room for it.
func (f *faults) add(e *Error) bool {
	if len(f.list) >= MaxFaults {
		f.full = true
		return false
	}
	e.File = f.file
	f.list.Add(e)
	return true
}

// err returns the sorted list, closed with a word on what it leaves out.
func (f *faults) err() error {
	if f.full && len(f.list) == MaxFaults {
		f.list.Sort()
		f.list.Add(&Error{File: f.file, Pos: f.list[MaxFaults-1].Pos, Msg: "too many faults", Hint: "mend these first"})
	}
	return f.list.Err()
}

// parser reads tokens with one token of look-ahead. Methods that return ok
// have reported a fault when it is false; the statement is then given up and
// the parser resumes at the next.
type parser struct {
	scan    *scanner
	tok     token
	ahead   token // behind tok
	prevEnd Pos   // behind the token before tok
	faults  faults
	depth   int
	last    Pos                // of the latest fault
	lost    map[*Function]bool // functions with statements whose names were not read
}

// report collects a fault; when there are too many, the text ends here. What
// follows from a fault at the same place is not repeated.
func (p *parser) report(pos Pos, msg, hint string) {
	if pos == p.last {
		return
	}
	p.last = pos
	if !p.faults.add(&Error{Pos: pos, Msg: msg, Hint: hint}) {
		p.scan.stop()
		p.ahead = token{kind: tokEOF, pos: p.ahead.pos}
		p.tok = token{kind: tokEOF, pos: p.tok.pos}
	}
}

// next moves on by a token.
func (p *parser) next() {
	p.prevEnd = p.tok.pos
	switch p.tok.kind {
	case tokIdent, tokNumber:
		p.prevEnd.Col += len(p.tok.text)
	case tokArrow:
		p.prevEnd.Col += 2
	default:
		p.prevEnd.Col++
	}
	p.tok = p.ahead
	p.ahead = token{kind: tokEOF, pos: p.tok.pos}
	if p.tok.kind != tokEOF {
		p.ahead = p.scan.next()
	}
	if p.faults.full {
		p.tok = token{kind: tokEOF, pos: p.tok.pos}
	}
}

// expected reports that something else than tok should stand here. Illegal
// text has its fault already.
func (p *parser) expected(what, hint string) bool {
	if p.tok.kind != tokIllegal {
		p.report(p.tok.pos, "expected "+what+", found "+p.tok.String(), hint)
	}
	return false
}

// want takes the punctuation kind, or reports that it is missing.
func (p *parser) want(kind rune, where, hint string) bool {
	if p.tok.kind != kind {
		return p.expected(token{kind: kind}.String()+" "+where, hint)
	}
	p.next()
	return true
}

// got takes the punctuation kind if it is there.
func (p *parser) got(kind rune) bool {
	if p.tok.kind != kind {
		return false
	}
	p.next()
	return true
}

// separator takes the comma behind an item of a list that ends with end, unless
// the list ends here.
func (p *parser) separator(end rune, item string) bool {
	if p.tok.kind == end {
		return true
	}
	comma := p.tok.pos
	if !p.want(',', "or "+token{kind: end}.String()+" behind "+item, "") {
		return false
	}
	if p.tok.kind == end {
		p.report(comma, "nothing follows the comma", "remove it")
	}
	return true
}

// enter begins a nested construct; leave must follow if it returns true.
func (p *parser) enter() bool {
	if p.depth >= MaxNesting {
		p.report(p.tok.pos, "nested too deep", "types, operands and literals nest at most 100 deep")
		return false
	}
	p.depth++
	return true
}

func (p *parser) leave() { p.depth-- }

// name takes the name of a value, function or operator; what says which.
func (p *parser) name(what string) (string, bool) {
	switch {
	case p.tok.kind != tokIdent:
		return "", p.expected(what, "names are made of ASCII letters, digits and _, and do not start with a digit")
	case reserved(p.tok.text):
		p.report(p.tok.pos, quoteShort(p.tok.text)+" cannot be "+what, "it is a word of the language; choose another name")
		if p.tok.is("func") { // more likely the next function
			return "", false
		}
	}
	s := p.tok.text
	p.next()
	return s, true
}

// program reads the whole text.
func (p *parser) program() *Program {
	prog := &Program{Pos: p.tok.pos}
	const form = "a program starts with program(1.3) {"
	if !p.tok.is("program") {
		p.expected(`"program"`, form)
		return prog
	}
	p.next()
	if !p.want('(', "behind program", form) || !p.version(prog) || !p.want(')', "behind the version", form) {
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
			p.expected(`"func" or the closing "}" of the program`, "a program holds functions only")
			p.toFunc()
		}
	}
	if p.tok.kind != '}' {
		p.expected(`"func" or the closing "}" of the program`, "a program holds functions only")
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

// decimalVersion reports whether s is a number as versions are written: digits
// with an optional fraction.
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

// function reads a function from the word func to the semicolon.
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
		p.report(p.tok.pos, "results stand behind the body", "end the body with } -> (y);")
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
	if !p.want('<', "and the opset behind the function's name", form) {
		return false
	}
	var ok bool
	if f.Opset, ok = p.name("an opset"); !ok {
		return false
	}
	if !p.want('>', "behind the opset", form) || !p.want('(', "before the parameters", form) {
		return false
	}
	for p.tok.kind != ')' {
		v, ok := p.variable("a parameter")
		if !ok {
			return false
		}
		f.Params = append(f.Params, v)
		if !p.separator(')', "a parameter") {
			return false
		}
	}
	p.next()
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

// lose notes that names of f may be missing from the tree.
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
	for p.tok.kind != ')' {
		pos := p.tok.pos
		name, ok := p.name("the name of a result")
		if !ok {
			return false
		}
		f.Results = append(f.Results, Ref{pos, name})
		if !p.separator(')', "a result") {
			return false
		}
	}
	p.next()
	if p.tok.kind != ';' {
		p.report(p.prevEnd, `";" is missing behind the results`, form)
		return true
	}
	p.next()
	return true
}
