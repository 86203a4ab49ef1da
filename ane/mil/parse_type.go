package mil

import (
	"maps"
	"slices"
	"strconv"

	"github.com/anekit/anekit/internal/near"
)

// typ reads a type.
func (p *parser) typ() (t Type, ok bool) {
	const form = "types are fp16, int32, bool, string .. and tensor<fp16, [1, 64, 1, 32]>"
	if p.tok.kind != tokIdent {
		return t, p.expected("a type", form)
	}
	word := p.tok
	t, ok = typeWords[word.text]
	switch {
	case !ok:
		p.report(word.pos, "unknown type "+quoteShort(word.text),
			near.Hint(word.text, slices.Sorted(maps.Keys(typeWords)))+form)
		p.next()
		return t, p.tok.kind == tokIdent // a name: read on
	case t.Kind == Scalar:
		p.next()
		return t, true
	}
	if !p.enter() {
		return t, false
	}
	defer p.leave()
	p.next()
	if !p.got('<') {
		return t, p.expected(`"<" after `+word.text, form)
	}
	start := len(p.dims)
	switch t.Kind {
	case Tensor:
		ok = p.tensor(&t)
	case List:
		ok = p.elems(&t, 1) && p.want(',', "and the length of the list", "write list<int32, 4>") && p.dim()
	default:
		ok = p.elems(&t, -1)
	}
	t.Dims = cutOff(&p.dims, start)
	if !ok || !p.want('>', "at the end of the type", "write it like tensor<fp16, [1, 64, 1, 32]>") {
		return t, false
	}
	return t, p.typeCount(word, t)
}

// tensor reads the scalar and the dimensions of a tensor.
func (p *parser) tensor(t *Type) bool {
	const form = "write tensor<fp16, [1, 64, 1, 32]>"
	if p.tok.kind == tokIdent {
		t.DType = ParseDType(p.tok.text)
	}
	if t.DType == NoType {
		return p.expected("a scalar type", p.meant(slices.Sorted(maps.Keys(typeWords))...)+
			"a tensor's elements are fp16, fp32, int32, "+
			"bool, string ..: "+form)
	}
	p.next()
	if !p.want(',', "after the tensor's scalar type", form) || !p.want('[', "before the dimensions", form) {
		return false
	}
	return p.list(']', "a dimension", p.dim)
}

// dim reads a dimension: a size, "?" or a symbol.
func (p *parser) dim() bool {
	var d Dim
	switch {
	case p.tok.kind == '?':
		d.Symbol = "?"
	case p.tok.kind == tokIdent:
		d.Symbol = p.tok.text
	case p.tok.kind == tokNumber && span(p.tok.text, digit) == len(p.tok.text):
		n, err := strconv.ParseInt(p.tok.text, 10, 0)
		if err != nil {
			p.report(p.tok.pos, "dimension "+quoteShort(p.tok.text)+" is too large",
				"sizes are at most 9223372036854775807")
			return false
		}
		d.Size = int(n)
	default:
		return p.expected("a dimension", `dimensions are whole numbers, "?" or names`)
	}
	p.next()
	p.dims = append(p.dims, d)
	return true
}

// elems reads n types, or any number if n is negative.
func (p *parser) elems(t *Type, n int) bool {
	for {
		e, ok := p.typ()
		if !ok {
			return false
		}
		t.Elems = append(t.Elems, e)
		if len(t.Elems) == n || !p.got(',') {
			return true
		}
	}
}

// typeCount checks how many types t is made of.
func (p *parser) typeCount(word token, t Type) bool {
	switch {
	case t.Kind == State && len(t.Elems) != 1:
		p.report(word.pos, "a state holds one type", "write state<tensor<fp16, [1, 64, 1, 32]>>")
	case t.Kind == Dict && len(t.Elems) != 2:
		p.report(word.pos, "a dict has two types", "write dict<string, string>")
	default:
		return true
	}
	return false
}
