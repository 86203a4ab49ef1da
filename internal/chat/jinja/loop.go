package jinja

// loop is what a template knows as loop.
type loop struct {
	f       *frame
	rest    []any          // what the iteration has not reached
	keep    func(any) bool // nil to keep all
	ahead   []any          // items that were looked at before their turn
	total   int            // -1 until it is known
	index   int            // of the item, from 0
	before  any
	current any
}

// fetch appends the next item to ahead.
func (l *loop) fetch() bool {
	for len(l.rest) > 0 {
		item := l.rest[0]
		l.rest = l.rest[1:]
		l.f.spend(16) // a scope, and room for its names
		if l.keep == nil || l.keep(item) {
			l.ahead = append(l.ahead, item)
			return true
		}
	}
	return false
}

// advance goes to the next item.
func (l *loop) advance() bool {
	if len(l.ahead) == 0 && !l.fetch() {
		return false
	}
	l.before, l.current, l.ahead = l.current, l.ahead[0], l.ahead[1:]
	l.index++
	return true
}

func (l *loop) length() int {
	if l.total < 0 {
		for l.fetch() {
		}
		l.total = l.index + 1 + len(l.ahead)
	}
	return l.total
}

// attribute returns an attribute, and whether there is such a one.
func (l *loop) attribute(of string) (any, bool) {
	switch of {
	case "index":
		return l.index + 1, true
	case "index0":
		return l.index, true
	case "revindex":
		return l.length() - l.index, true
	case "revindex0":
		return l.length() - l.index - 1, true
	case "first":
		return l.index == 0, true
	case "last":
		return len(l.ahead) == 0 && !l.fetch(), true
	case "length":
		return l.length(), true
	case "previtem":
		if l.index == 0 {
			return undefined{"there is no previous item"}, true
		}
		return l.before, true
	case "nextitem":
		if len(l.ahead) == 0 && !l.fetch() {
			return undefined{"there is no next item"}, true
		}
		return l.ahead[0], true
	}
	return nil, false
}

// loop parses a for tag.
func (p *parser) loop() statement {
	to := p.target(false)
	p.want(name, "in")
	over := p.tuple(false)
	var keep expression
	if p.skip(name, "if") {
		keep = p.expression(true)
	}
	p.want(tagEnd, "")
	p.loops++
	body, by := p.until("else", "endfor")
	p.loops--
	var none []statement
	if by == "else" {
		none = p.block("endfor")
	}
	return func(f *frame) flow {
		items := f.items(over(f))
		l := &loop{f: f, rest: items, total: len(items), index: -1}
		if keep != nil {
			l.total = -1
			l.keep = func(item any) bool {
				inner := f.inner()
				to(inner, item)
				return truth(keep(inner))
			}
		}
		for l.advance() {
			inner := f.inner()
			inner.set("loop", l)
			to(inner, l.current)
			if exec(inner, body) == breaks {
				break
			}
		}
		if l.index < 0 {
			return exec(f.inner(), none)
		}
		return on
	}
}

// parameter is one of a macro.
type parameter struct {
	name  string
	value expression // of an absent one
}

// macro parses a macro. Its body sees the names of the place where it stands.
func (p *parser) macro() statement {
	named := p.want(name, "").text
	at := p.routine(named, p.parameters(), "endmacro")
	return func(place *frame) flow { place.set(named, at(place)); return on }
}

// callBlock parses a call of a macro, which knows a body as caller.
func (p *parser) callBlock() statement {
	var all []parameter
	if p.is(operator, "(") {
		all = p.parameters()
	}
	of, arguments := p.primary(), p.arguments()
	at := p.routine("caller", all, "endcall")
	return func(f *frame) flow {
		a := arguments(f)
		a.named.set("caller", at(f))
		f.write(f.text(f.call(of(f), a)))
		return on
	}
}

func (p *parser) parameters() (all []parameter) {
	for p.want(operator, "("); !p.skip(operator, ")"); {
		if len(all) > 0 {
			p.want(operator, ",")
		}
		one := parameter{name: p.want(name, "").text}
		if one.value = constant(undefined{"parameter " + quoted(one.name) + " was not provided"}); p.skip(operator, "=") {
			one.value = p.expression(true)
		}
		all = append(all, one)
	}
	return all
}

// routine parses a body with parameters, and returns what makes a function of it at a place.
func (p *parser) routine(named string, all []parameter, last string) func(place *frame) *function {
	loops := p.loops
	p.loops = 0
	body := p.block(last)
	p.loops = loops
	return func(place *frame) *function {
		return &function{named, func(f *frame, a *arguments) any {
			f.enter()
			defer f.leave()
			f.spend(len(all))
			line, inner := f.line, place.inner()
			caller, ok := a.named.get("caller")
			if !ok {
				caller = undefined{"No caller defined"}
			}
			if named != "caller" {
				inner.set("caller", caller)
			}
			for i, one := range all {
				v, ok := a.get(i, one.name)
				if !ok {
					v = one.value(inner)
				}
				inner.set(one.name, v)
			}
			if len(a.all) > len(all) {
				fail("macro ", quoted(named), " takes not more than ", itoa(len(all)), " arguments")
			}
			text := f.captured(func() { exec(inner, body) })
			f.line = line
			return text
		}}
	}
}
