package jinja

import (
	"math"
	"strconv"
	"strings"
)

// constant is an expression of one value.
func constant(v any) expression { return func(*frame) any { return v } }

// expression parses an expression, with its conditions if those may be there.
func (p *parser) expression(conditions bool) expression {
	p.enter()
	defer p.leave()
	value := p.or()
	for conditions && p.skip(name, "if") {
		then, when := value, p.or()
		otherwise := constant(undefined{"the inline if-expression evaluated to false and no else section was defined."})
		if p.skip(name, "else") {
			otherwise = p.expression(true)
		}
		value = func(f *frame) any {
			if truth(when(f)) {
				return then(f)
			}
			return otherwise(f)
		}
	}
	return value
}

// tuple parses an expression, or several as a tuple.
func (p *parser) tuple(conditions bool) expression {
	first := p.expression(conditions)
	if !p.is(operator, ",") {
		return first
	}
	all := []expression{first}
	for p.skip(operator, ",") {
		if k := p.now().kind; k == end || k == tagEnd || p.is(operator, ")") {
			break
		}
		all = append(all, p.expression(conditions))
	}
	return func(f *frame) any { return tuple(values(f, all)) }
}

func values(f *frame, all []expression) []any {
	out := make([]any, len(all))
	for i, one := range all {
		out[i] = one(f)
	}
	return out
}

// logical parses operands between and or or, which gives the first operand of a truth, or the last one.
func (p *parser) logical(operand func() expression, word string, decides bool) expression {
	value := operand()
	for p.skip(name, word) {
		a, b := value, operand()
		value = func(f *frame) any {
			if v := a(f); truth(v) == decides {
				return v
			}
			return b(f)
		}
	}
	return value
}

func (p *parser) or() expression { return p.logical(p.and, "or", true) }

func (p *parser) and() expression { return p.logical(p.not, "and", false) }

func (p *parser) not() expression {
	p.enter()
	defer p.leave()
	if !p.skip(name, "not") {
		return p.compare()
	}
	value := p.not()
	return func(f *frame) any { return !truth(value(f)) }
}

// comparison is one of a chain.
type comparison struct {
	sign  string
	value expression
}

func (p *parser) compare() expression {
	first := p.sum()
	var chain []comparison
	for {
		sign := ""
		switch {
		case p.is(operator, "==", "!=", "<", "<=", ">", ">=") || p.is(name, "in"):
			sign = p.next().text
		case p.is(name, "not") && p.tokens[p.at+1].kind == name && p.tokens[p.at+1].text == "in":
			p.at += 2
			sign = "not in"
		}
		if sign == "" {
			break
		}
		chain = append(chain, comparison{sign, p.sum()})
	}
	if chain == nil {
		return first
	}
	return func(f *frame) any {
		a := first(f)
		for _, c := range chain {
			b := c.value(f)
			if !f.holds(a, c.sign, b) {
				return false
			}
			a = b
		}
		return true
	}
}

// holds reports whether a comparison is true.
func (r *run) holds(a any, sign string, b any) bool {
	switch sign {
	case "==":
		return r.equal(a, b)
	case "!=":
		return !r.equal(a, b)
	case "in":
		return r.contains(b, a)
	case "not in":
		return !r.contains(b, a)
	}
	if x, y := number(a), number(b); x != nil && y != nil && (math.IsNaN(float(x)) || math.IsNaN(float(y))) {
		return false
	}
	defined(b)
	switch order := r.order(a, b, sign); sign {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	default:
		return order >= 0
	}
}

// binary parses operands between some operators.
func (p *parser) binary(operand func() expression, signs ...string) expression {
	value := operand()
	for p.is(operator, signs...) {
		sign := p.next().text
		a, b := value, operand()
		value = func(f *frame) any { return f.calculate(a(f), sign, b(f)) }
	}
	return value
}

func (p *parser) sum() expression { return p.binary(p.concatenation, "+", "-") }

func (p *parser) concatenation() expression {
	all := []expression{p.product()}
	for p.skip(operator, "~") {
		all = append(all, p.product())
	}
	if len(all) == 1 {
		return all[0]
	}
	return func(f *frame) any {
		var out strings.Builder
		for _, one := range all {
			s := f.text(one(f))
			f.bytes(len(s) + out.Len())
			out.WriteString(s)
		}
		return out.String()
	}
}

func (p *parser) product() expression { return p.binary(p.power, "*", "/", "//", "%") }

func (p *parser) power() expression {
	return p.binary(func() expression { return p.unary(true) }, "**")
}

func (p *parser) unary(filters bool) expression {
	p.enter()
	defer p.leave()
	var value expression
	if p.is(operator, "-", "+") {
		sign := p.next().text
		inner := p.unary(false)
		value = func(f *frame) any { return f.calculate(0, sign, inner(f)) }
	} else {
		value = p.primary()
	}
	if value = p.postfix(value); filters {
		value = p.filters(value)
	}
	return value
}

func (p *parser) primary() expression {
	switch t := p.now(); t.kind {
	case name:
		p.next()
		switch t.text {
		case "true", "True":
			return constant(true)
		case "false", "False":
			return constant(false)
		case "none", "None":
			return constant(nil)
		}
		return func(f *frame) any { return f.get(t.text) }
	case text:
		var all strings.Builder
		for p.now().kind == text {
			all.WriteString(p.next().text)
		}
		return constant(all.String())
	case whole:
		p.next()
		v, err := strconv.ParseInt(decimal(t.text), 0, 64)
		if err != nil {
			return constant(large(t.text))
		}
		return constant(int(v))
	case fraction:
		p.next()
		v, _ := strconv.ParseFloat(t.text, 64)
		return constant(v)
	}
	switch {
	case p.skip(operator, "("):
		if p.skip(operator, ")") {
			return constant(tuple{})
		}
		value := p.tuple(true)
		p.want(operator, ")")
		return value
	case p.skip(operator, "["):
		all := p.list("]")
		return func(f *frame) any { return values(f, all) }
	case p.skip(operator, "{"):
		return p.dict()
	}
	p.unexpected("")
	return nil
}

// decimal is an integer of zeros as 0: Go would read it in base 8.
func decimal(s string) string {
	if strings.Trim(s, "0") == "" {
		return "0"
	}
	return s
}

// list parses expressions up to a bracket.
func (p *parser) list(last string) (all []expression) {
	for !p.skip(operator, last) {
		if len(all) > 0 {
			if p.want(operator, ","); p.skip(operator, last) {
				break
			}
		}
		all = append(all, p.expression(true))
	}
	return all
}

func (p *parser) dict() expression {
	var keys, all []expression
	for !p.skip(operator, "}") {
		if len(all) > 0 {
			if p.want(operator, ","); p.skip(operator, "}") {
				break
			}
		}
		keys = append(keys, p.expression(true))
		p.want(operator, ":")
		all = append(all, p.expression(true))
	}
	return func(f *frame) any {
		d := &Dict{}
		for i, key := range keys {
			d.set(key(f), all[i](f))
		}
		return d
	}
}

// postfix parses attributes, subscripts and calls.
func (p *parser) postfix(value expression) expression {
	for {
		of := value
		switch {
		case p.skip(operator, "."):
			t := p.next()
			switch t.kind {
			case name:
				value = func(f *frame) any { return f.attribute(of(f), t.text) }
			case whole:
				i, _ := strconv.Atoi(t.text)
				value = func(f *frame) any { return f.item(of(f), i) }
			default:
				p.at--
				p.unexpected("a name")
			}
		case p.skip(operator, "["):
			value = p.subscript(of)
		case p.is(operator, "("):
			arguments := p.arguments()
			value = func(f *frame) any { return f.call(of(f), arguments(f)) }
		default:
			return value
		}
	}
}

// subscript parses what is in the brackets after a value.
func (p *parser) subscript(of expression) expression {
	var parts [3]expression
	n := 0
	for !p.skip(operator, "]") {
		switch {
		case n < 2 && p.skip(operator, ":"):
			n++
		case parts[n] != nil:
			p.unexpected("]")
		default:
			parts[n] = p.expression(true)
		}
	}
	if n == 0 {
		if parts[0] == nil {
			fail("an empty subscript")
		}
		return func(f *frame) any { return f.item(of(f), parts[0](f)) }
	}
	return func(f *frame) any {
		var at [3]any
		for i, part := range parts {
			if part != nil {
				at[i] = part(f)
			}
		}
		return f.slice(of(f), at)
	}
}
