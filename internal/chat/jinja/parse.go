package jinja

import (
	"slices"
	"strings"
)

// A template becomes closures: an expression returns its value, a statement writes its text.
type (
	expression func(f *frame) any
	statement  func(f *frame) flow
)

// flow is where execution goes on.
type flow uint8

const (
	on flow = iota
	breaks
	continues
)

// parser makes closures of tokens.
type parser struct {
	tokens []token
	at     int
	line   int // follows the lexer, then the parser
	depth  int
	loops  int // for tags around the place
}

func (p *parser) now() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if p.line = t.line; t.kind != eof {
		p.at++
	}
	return t
}

// is reports whether the token is an operator or name.
func (p *parser) is(k kind, words ...string) bool {
	t := p.now()
	return t.kind == k && slices.Contains(words, t.text)
}

// skip moves over an operator or name, if it is here.
func (p *parser) skip(k kind, word string) bool {
	ok := p.is(k, word)
	if ok {
		p.next()
	}
	return ok
}

// want moves over a token of a kind, of a text if that is not empty.
func (p *parser) want(k kind, word string) token {
	t := p.now()
	if t.kind != k || word != "" && t.text != word {
		p.unexpected(word)
	}
	return p.next()
}

func (p *parser) unexpected(wanted string) {
	t := p.next()
	got := map[kind]string{eof: "the end of the template", end: "}}", tagEnd: "%}"}[t.kind]
	if got == "" {
		got = literal(t.text)
	}
	if wanted != "" {
		got += ", not " + wanted
	}
	fail("unexpected ", got)
}

// enter counts a level of nesting.
func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		panic(fault{ErrBudget, "more than " + itoa(maxDepth) + " levels"})
	}
}

func (p *parser) leave() { p.depth-- }

// exec executes statements.
func exec(f *frame, all []statement) flow {
	for _, s := range all {
		if to := s(f); to != on {
			return to
		}
	}
	return on
}

// body parses up to a tag of ends, whose name is the next token; without ends up to the end.
func (p *parser) body(ends ...string) (all []statement) {
	p.enter()
	defer p.leave()
	for {
		t := p.next()
		switch t.kind {
		case data:
			if t.text != "" {
				all = append(all, func(f *frame) flow { f.write(t.text); f.spend(1); return on })
			}
		case begin:
			from := p.at
			value := p.tuple(true)
			p.want(end, "")
			all = append(all, p.costs(t.line, from, func(f *frame) flow { f.write(f.text(value(f))); return on }))
		case tag:
			if p.now().kind == name && slices.Contains(ends, p.now().text) {
				return all
			}
			from := p.at
			s := p.tag()
			all = append(all, p.costs(t.line, from, s))
		case eof:
			if len(ends) > 0 {
				fail("no ", ends[len(ends)-1])
			}
			return all
		}
	}
}

// costs lets a statement count its tokens as work. Those of its bodies count themselves again.
func (p *parser) costs(line, from int, s statement) statement {
	n := p.at - from
	return func(f *frame) flow {
		f.line = line
		f.spend(n)
		return s(f)
	}
}

// until parses a body and the tag that ends it.
func (p *parser) until(ends ...string) (all []statement, by string) {
	all = p.body(ends...)
	by = p.next().text
	if strings.HasPrefix(by, "end") {
		p.want(tagEnd, "")
	}
	return all, by
}

// block parses the rest of a tag and a body up to an end.
func (p *parser) block(ends ...string) []statement {
	p.want(tagEnd, "")
	all, _ := p.until(ends...)
	return all
}

// tag parses a tag after its first token.
func (p *parser) tag() statement {
	t := p.want(name, "")
	switch t.text {
	case "if":
		return p.condition()
	case "for":
		return p.loop()
	case "set":
		return p.set()
	case "macro":
		return p.macro()
	case "call":
		return p.callBlock()
	case "with":
		return p.with()
	case "filter":
		var all []statement
		value := p.piped(p.filter(written(&all)))
		all = p.block("endfilter")
		return func(f *frame) flow { f.write(f.text(value(f))); return on }
	case "generation":
		all := p.block("endgeneration")
		return func(f *frame) flow { exec(f.inner(), all); return on }
	case "break", "continue":
		if p.loops == 0 {
			fail(t.text, " outside of a loop")
		}
		p.want(tagEnd, "")
		to := breaks
		if t.text == "continue" {
			to = continues
		}
		return func(*frame) flow { return to }
	case "include", "import", "from", "extends":
		fail(t.text, " reads a file, and a chat template reads none")
	}
	fail("unknown tag ", quoted(t.text))
	return nil
}

func (p *parser) condition() statement {
	type branch struct {
		when expression
		body []statement
	}
	var all []branch
	var last []statement
	for by := ""; by != "endif"; {
		var b branch
		switch by {
		case "else":
			p.want(tagEnd, "")
			last, by = p.until("endif")
			continue
		default:
			b.when = p.tuple(false)
		}
		p.want(tagEnd, "")
		b.body, by = p.until("elif", "else", "endif")
		all = append(all, b)
	}
	return func(f *frame) flow {
		for _, b := range all {
			if truth(b.when(f)) {
				return exec(f, b.body)
			}
		}
		return exec(f, last)
	}
}

// target assigns a value to a name, to names, or to an attribute of a namespace.
type target func(f *frame, v any)

func (p *parser) target(attributes bool) target {
	p.enter()
	defer p.leave()
	var all []target
	several := false
	for {
		if several && (p.is(operator, "=", ")") || p.is(name, "in") || p.now().kind == tagEnd) {
			break
		}
		all = append(all, p.oneTarget(attributes))
		if !p.skip(operator, ",") {
			break
		}
		several = true
	}
	if !several {
		return all[0]
	}
	return func(f *frame, v any) {
		items := f.items(v)
		if len(items) != len(all) {
			fail(itoa(len(items)), " values for ", itoa(len(all)), " names")
		}
		for i, one := range all {
			one(f, items[i])
		}
	}
}

func (p *parser) oneTarget(attributes bool) target {
	if p.skip(operator, "(") {
		inner := p.target(attributes)
		p.want(operator, ")")
		return inner
	}
	to := p.want(name, "").text
	if attributes && p.skip(operator, ".") {
		attribute := p.want(name, "").text
		return func(f *frame, v any) {
			ns, ok := f.get(to).(*namespace)
			if !ok {
				fail("cannot assign attribute on non-namespace object")
			}
			ns.set(attribute, v)
		}
	}
	if slices.Contains([]string{"true", "false", "none", "True", "False", "None"}, to) {
		fail("cannot assign to ", quoted(to))
	}
	return func(f *frame, v any) { f.set(to, v) }
}

func (p *parser) set() statement {
	to := p.target(true)
	if p.skip(operator, "=") {
		value := p.tuple(true)
		p.want(tagEnd, "")
		return func(f *frame) flow { to(f, value(f)); return on }
	}
	var all []statement
	value := p.piped(written(&all))
	all = p.block("endset")
	return func(f *frame) flow { to(f, value(f)); return on }
}

// written is what statements write, which may be parsed later.
func written(all *[]statement) expression {
	return func(f *frame) any {
		inner := f.inner()
		return f.captured(func() { exec(inner, *all) })
	}
}

// piped parses filters with their bars.
func (p *parser) piped(value expression) expression {
	for p.skip(operator, "|") {
		value = p.filter(value)
	}
	return value
}

// with parses names that a body alone knows. Their values are those of the place before.
func (p *parser) with() statement {
	var to []target
	var all []expression
	for p.now().kind != tagEnd {
		if len(to) > 0 {
			p.want(operator, ",")
		}
		to = append(to, p.target(false))
		p.want(operator, "=")
		all = append(all, p.expression(true))
	}
	body := p.block("endwith")
	return func(f *frame) flow {
		inner := f.inner()
		for i, v := range values(f, all) {
			to[i](inner, v)
		}
		return exec(inner, body)
	}
}
