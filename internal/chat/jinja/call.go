package jinja

import "slices"

// arguments are those of a call.
type arguments struct {
	all   []any
	named Dict
}

// arguments parses the arguments of a call, with their parentheses.
func (p *parser) arguments() func(f *frame) *arguments {
	type argument struct {
		name  string // empty for one by place, * and ** for several
		value expression
	}
	var all []argument
	p.want(operator, "(")
	for !p.skip(operator, ")") {
		if len(all) > 0 {
			if p.want(operator, ","); p.skip(operator, ")") {
				break
			}
		}
		var one argument
		after := p.tokens[min(p.at+1, len(p.tokens)-1)]
		switch {
		case p.is(operator, "*", "**"):
			one.name = p.next().text
		case p.now().kind == name && after.kind == operator && after.text == "=":
			one.name = p.next().text
			p.next()
		}
		one.value = p.expression(true)
		all = append(all, one)
	}
	return func(f *frame) *arguments {
		a := &arguments{}
		for _, one := range all {
			switch v := one.value(f); one.name {
			case "":
				a.all = append(a.all, v)
			case "*":
				a.all = append(a.all, f.items(v)...)
			case "**":
				d, ok := v.(*Dict)
				if !ok {
					fail("what follows ** is no dict but of type ", typeName(v))
				}
				for i, key := range d.keys {
					a.named.set(str(key, "a keyword"), d.values[i])
				}
			default:
				a.named.set(one.name, v)
			}
		}
		return a
	}
}

// filters parses the filters, tests and calls after a value.
func (p *parser) filters(value expression) expression {
	for {
		switch {
		case p.skip(operator, "|"):
			value = p.filter(value)
		case p.skip(name, "is"):
			value = p.test(value)
		case p.is(operator, "("):
			of, arguments := value, p.arguments()
			value = func(f *frame) any { return f.call(of(f), arguments(f)) }
		default:
			return value
		}
	}
}

// dotted parses the name of a filter or test.
func (p *parser) dotted() string {
	s := p.want(name, "").text
	for p.skip(operator, ".") {
		s += "." + p.want(name, "").text
	}
	return s
}

// filter parses a filter after its bar.
func (p *parser) filter(value expression) expression {
	named := p.dotted()
	arguments := func(*frame) *arguments { return &arguments{} }
	if p.is(operator, "(") {
		arguments = p.arguments()
	}
	return func(f *frame) any {
		v := value(f)
		return f.filter(named, v, arguments(f))
	}
}

// test parses a test after the word is.
func (p *parser) test(value expression) expression {
	negated := p.skip(name, "not")
	named := p.dotted()
	arguments := func(*frame) *arguments { return &arguments{} }
	switch k := p.now().kind; {
	case p.is(operator, "("):
		arguments = p.arguments()
	case p.is(name, "is"):
		fail("tests cannot be chained with is")
	case slices.Contains([]kind{name, text, whole, fraction}, k) && !p.is(name, "else", "or", "and", "if"),
		p.is(operator, "[", "{"):
		arguments = one(p.postfix(p.primary()))
	}
	return func(f *frame) any {
		v := value(f)
		return f.test(named, v, arguments(f)) != negated
	}
}

// one is a call with one argument.
func one(value expression) func(f *frame) *arguments {
	return func(f *frame) *arguments { return &arguments{all: []any{value(f)}} }
}
