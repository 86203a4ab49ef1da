package mil

import (
	"context"
	"slices"

	"github.com/anekit/anekit/internal/near"
)

// Parse reads MIL text. The name file appears in faults; the file is not opened. The error is an ErrorList of every
// fault that Parse and Validate found. With an error, the returned program is incomplete: use it for inspection only.
func Parse(file string, src []byte) (*Program, error) {
	return parse(context.Background(), file, src, true, nil)
}

// ParseTree is Parse for callers of Validate: it checks the syntax, and calls Validate
// only to complete the list of faults of a text with syntax errors.
func ParseTree(file string, src []byte) (*Program, error) {
	return ParseTreeContext(context.Background(), file, src)
}

// ParseTreeContext is ParseTree. It returns the error of ctx once that has ended.
func ParseTreeContext(ctx context.Context, file string, src []byte) (*Program, error) {
	return parse(ctx, file, src, false, nil)
}

// parse notes the layout of a program without faults in l, unless that is nil.
func parse(ctx context.Context, file string, src []byte, validate bool, l *layout) (*Program, error) {
	p := &parser{faults: faults{file: file}, during: watch{ctx: ctx}, lost: map[*Function]bool{}, layout: l}
	p.scan = newScanner(string(src), p.report)
	if l != nil {
		p.scan.note = l.comment
	}
	p.scan.next(&p.ahead)
	p.next()
	p.startLine()
	prog := p.program()
	if validate || len(p.faults.list) > 0 {
		v := validator{faults: &p.faults, partial: len(p.faults.list) > 0, lost: p.lost, during: &p.during}
		v.program(prog)
	}
	if p.during.err != nil {
		return prog, p.during.err
	}
	return prog, p.faults.err()
}

// parser reads tokens with one token of look-ahead. A method that cannot read on reports a fault
// and panics with unreadable. The parser then resumes at the next statement or function; see try.
type parser struct {
	scan    *scanner
	tok     token
	ahead   token // after tok
	prevEnd Pos   // after the token before tok, if that is a bracket
	faults  faults
	during  watch
	depth   int
	// attributes is set inside brackets: arguments may be bare there, attributes not.
	attributes bool
	last       Pos                // of the latest fault
	lost       map[*Function]bool // functions of which names may be missing from the tree
	layout     *layout            // or nil

	// Items of lists that contain each other; see gather.
	args     []Arg
	dims     []Dim
	literals []Literal
	operands []Operand
}

// unreadable is the panic of a method that cannot read on. Its fault has been reported.
type unreadable struct{}

// try calls read, and reports whether it read all that it should.
func (p *parser) try(read func()) (ok bool) {
	defer func() {
		if e := recover(); e != nil && e != any(unreadable{}) {
			panic(e)
		}
	}()
	read()
	return true
}

// gather reads a list as list does, and sets into to its items, nil if there are none, after a fault to those before
// it. Items are on the stack until their list is complete, so that it is allocated once.
func gather[T any](p *parser, stack, into *[]T, end rune, item string, read func() T) {
	start := len(*stack)
	defer func() {
		*into = append(*into, (*stack)[start:]...)
		clear((*stack)[start:]) // for the garbage collector
		*stack = (*stack)[:start]
	}()
	p.list(end, item, func() {
		v := read() // may use the stack
		if len(*stack) == cap(*stack) {
			*stack = slices.Grow(*stack, len(*stack)+1) // append grows long slices by a quarter only
		}
		*stack = append(*stack, v)
	})
}

// report collects a fault. It ignores a second fault at the same place. After too many faults it ends the text here.
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
	p.scan.src = p.scan.src[:min(p.scan.off, len(p.scan.src))]
	p.ahead = token{kind: tokEOF, pos: p.ahead.pos}
	p.tok = token{kind: tokEOF, pos: p.tok.pos}
}

func (p *parser) next() {
	p.prevEnd = Pos{p.tok.pos.Line, p.tok.pos.Col + 1}
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

// startLine notes that tok is the first token of those that the canonical text has on one line.
func (p *parser) startLine() {
	if p.layout != nil {
		p.layout.first = p.tok.pos.Line
	}
}

// endLine notes that the token before tok is the last one of a line, and that tok starts the next.
func (p *parser) endLine() {
	if p.layout != nil {
		alone := p.tok.pos.Line > p.prevEnd.Line || p.tok.kind == tokEOF
		p.layout.slots = append(p.layout.slots, slot{p.layout.first, p.prevEnd, alone})
		p.startLine()
	}
}

// fault reports a fault after which nothing can be read.
func (p *parser) fault(pos Pos, msg, hint string) unreadable {
	p.report(pos, msg, hint)
	return unreadable{}
}

// expected reports that what is expected in place of tok. The scanner has already reported an illegal tok.
func (p *parser) expected(what, hint string) unreadable {
	if p.tok.kind == tokIllegal {
		return unreadable{}
	}
	return p.fault(p.tok.pos, "expected "+what+", found "+p.tok.String(), hint)
}

// meant begins a hint with the word that tok was probably meant to be.
func (p *parser) meant(words ...string) string {
	if p.tok.kind != tokIdent {
		return ""
	}
	return near.Hint(p.tok.text, words)
}

// want takes the punctuation kind, which must come next.
func (p *parser) want(kind rune, where, hint string) {
	if !p.got(kind) {
		panic(p.expected(token{kind: kind}.String()+" "+where, hint))
	}
}

// got takes the punctuation kind if it comes next.
func (p *parser) got(kind rune) bool {
	if p.tok.kind != kind {
		return false
	}
	p.next()
	return true
}

// list reads items up to and including the punctuation that ends their list.
func (p *parser) list(end rune, item string, read func()) {
	for p.tok.kind != end {
		read()
		comma, mark := p.tok.pos, token{kind: end}
		switch {
		case p.tok.kind == end:
		case !p.got(','):
			panic(p.expected(`"," or `+mark.String()+" after "+item, "separate with commas, end with "+mark.String()))
		case p.tok.kind == end:
			p.report(comma, "nothing follows the comma", "remove it")
		}
	}
	p.next()
}

// enter begins a nested construct. The caller must call leave.
func (p *parser) enter() {
	if p.depth >= MaxNesting {
		panic(p.fault(p.tok.pos, "nested too deep", "types, operands, literals and blocks nest at most 100 deep"))
	}
	p.depth++
}

func (p *parser) leave() { p.depth-- }

// name takes the name of a value, function or operator; what describes it in messages.
func (p *parser) name(what string) string {
	word := p.tok
	switch {
	case word.kind != tokIdent:
		panic(p.expected(what, "names are made of ASCII letters, digits and _, and do not start with a digit"))
	case reserved(word.text):
		p.report(word.pos, quoteShort(word.text)+" cannot be "+what, "it is a reserved word; choose another name")
		if word.is("func") { // more likely the next function
			panic(unreadable{})
		}
	}
	p.next()
	return word.text
}
