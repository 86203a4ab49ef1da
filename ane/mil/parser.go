package mil

import (
	"context"

	"github.com/anekit/anekit/internal/near"
)

// MaxNesting is how deep types, operands and literals nest. Programs in use
// stay below ten.
const MaxNesting = 100

// Parse reads MIL text. The name file appears in faults; the file is not opened.
// The error is an ErrorList of every fault that Parse and Validate found. With an
// error, the returned program is incomplete: use it for inspection only.
func Parse(file string, src []byte) (*Program, error) {
	return parse(context.Background(), file, src)
}

func parse(ctx context.Context, file string, src []byte) (*Program, error) {
	p := newParser(ctx, file, src)
	prog := p.program()
	v := validator{faults: &p.faults, partial: len(p.faults.list) > 0, lost: p.lost,
		during: &p.during}
	v.program(prog)
	if p.during.err != nil {
		return prog, p.during.err
	}
	return prog, p.faults.err()
}

// ParseTree is Parse for callers of Validate: it checks the syntax, and calls Validate
// only to complete the list of faults of a text with syntax errors.
func ParseTree(file string, src []byte) (*Program, error) {
	return ParseTreeContext(context.Background(), file, src)
}

// ParseTreeContext is ParseTree. It returns the error of ctx once that has ended.
func ParseTreeContext(ctx context.Context, file string, src []byte) (*Program, error) {
	p := newParser(ctx, file, src)
	prog := p.program()
	if p.during.err != nil {
		return prog, p.during.err
	}
	if len(p.faults.list) > 0 {
		return parse(ctx, file, src)
	}
	return prog, nil
}

func newParser(ctx context.Context, file string, src []byte) *parser {
	p := &parser{faults: faults{file: file}, during: watch{ctx: ctx}}
	p.scan = newScanner(string(src), p.report)
	p.scan.next(&p.ahead)
	p.next()
	return p
}

// parser reads tokens with one token of look-ahead. A method that returns false for
// ok has reported a fault; the parser then resumes at the next statement.
type parser struct {
	scan    *scanner
	tok     token
	ahead   token // after tok
	prevEnd Pos   // the end of the token before tok
	faults  faults
	during  watch
	depth   int
	// attributes is set inside brackets: arguments may be bare there, attributes not.
	attributes bool
	last       Pos                // of the latest fault
	lost       map[*Function]bool // functions with statements whose names were not read

	// Items of lists that contain each other: cutOff copies a list when it is complete.
	args     []Arg
	dims     []Dim
	literals []Literal
	operands []Operand
}

// cutOff removes the items after the first start ones, and returns a copy of them, nil of none.
func cutOff[T any](items *[]T, start int) []T {
	if start == len(*items) {
		return nil
	}
	list := append(make([]T, 0, len(*items)-start), (*items)[start:]...)
	clear((*items)[start:]) // for the garbage collector
	*items = (*items)[:start]
	return list
}

// report collects a fault. It ignores a second fault at the same place. After too
// many faults it ends the text here.
func (p *parser) report(pos Pos, msg, hint string) {
	if pos == p.last {
		return
	}
	p.last = pos
	if !p.faults.add(&Error{Pos: pos, Msg: msg, Hint: hint}) {
		p.end()
	}
}

// end makes the text end here.
func (p *parser) end() {
	p.scan.stop()
	p.ahead = token{kind: tokEOF, pos: p.ahead.pos}
	p.tok = token{kind: tokEOF, pos: p.tok.pos}
}

// next advances by one token.
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
	if p.tok.kind == tokEOF {
		p.ahead = token{kind: tokEOF, pos: p.tok.pos}
	} else {
		p.scan.next(&p.ahead)
	}
	if p.faults.full {
		p.tok = token{kind: tokEOF, pos: p.tok.pos}
	}
	if p.during.ended() {
		p.end()
	}
}

// expected reports that what is expected in place of tok. The scanner has already
// reported an illegal tok.
func (p *parser) expected(what, hint string) bool {
	if p.tok.kind != tokIllegal {
		p.report(p.tok.pos, "expected "+what+", found "+p.tok.String(), hint)
	}
	return false
}

// meant begins a hint with the word that tok was probably meant to be.
func (p *parser) meant(words ...string) string {
	if p.tok.kind != tokIdent {
		return ""
	}
	return near.Hint(p.tok.text, words)
}

// want takes the punctuation kind, or reports that it is missing.
func (p *parser) want(kind rune, where, hint string) bool {
	if p.tok.kind != kind {
		return p.expected(token{kind: kind}.String()+" "+where, hint)
	}
	p.next()
	return true
}

// got takes the punctuation kind if it comes next.
func (p *parser) got(kind rune) bool {
	if p.tok.kind != kind {
		return false
	}
	p.next()
	return true
}

// separator takes the comma after an item of a list that ends with end. It takes
// nothing at the end of the list.
func (p *parser) separator(end rune, item string) bool {
	if p.tok.kind == end {
		return true
	}
	comma := p.tok.pos
	if !p.got(',') {
		return p.expected(`"," or `+token{kind: end}.String()+" after "+item, "separate with commas, end with "+
			token{kind: end}.String())
	}
	if p.tok.kind == end {
		p.report(comma, "nothing follows the comma", "remove it")
	}
	return true
}

// list reads items up to and including the punctuation that ends their list.
func (p *parser) list(end rune, item string, read func() bool) bool {
	for p.tok.kind != end {
		if !read() || !p.separator(end, item) {
			return false
		}
	}
	p.next()
	return true
}

// enter begins a nested construct. If it returns true, the caller must call leave.
func (p *parser) enter() bool {
	if p.depth >= MaxNesting {
		p.report(p.tok.pos, "nested too deep", "types, operands and literals nest at most 100 deep")
		return false
	}
	p.depth++
	return true
}

func (p *parser) leave() { p.depth-- }

// name takes the name of a value, function or operator; what describes it in messages.
func (p *parser) name(what string) (string, bool) {
	switch {
	case p.tok.kind != tokIdent:
		return "", p.expected(what, "names are made of ASCII letters, digits and _, and do not start with a digit")
	case reserved(p.tok.text):
		p.report(p.tok.pos, quoteShort(p.tok.text)+" cannot be "+what, "it is a reserved word; choose another name")
		if p.tok.is("func") { // more likely the next function
			return "", false
		}
	}
	s := p.tok.text
	p.next()
	return s, true
}
