package mil

import (
	"maps"
	"slices"
	"strconv"

	"github.com/anekit/anekit/internal/near"
)

func (p *parser) typ() Type {
	const form = "types are fp16, int32, bool, string .. and tensor<fp16, [1, 64, 1, 32]>"
	word := p.tok
	if word.kind != tokIdent {
		panic(p.expected("a type", form))
	}
	t, ok := typeWords[word.text]
	switch {
	case !ok:
		p.report(word.pos, "unknown type "+quoteShort(word.text),
			near.Hint(word.text, slices.Sorted(maps.Keys(typeWords)))+form)
		p.next()
		if p.tok.kind != tokIdent {
			panic(unreadable{})
		}
		return t // a name comes next: read on
	case t.Kind == Scalar:
		p.next()
		return t
	}
	p.enter()
	defer p.leave()
	p.next()
	if !p.got('<') {
		panic(p.expected(`"<" after `+word.text, form))
	}
	switch t.Kind {
	case Tensor:
		p.tensor(&t)
	case TensorBuffer:
		p.buffer(&t)
	case List:
		t.Elems = []Type{p.typ()}
		p.want(',', "and the length of the list", "write list<int32, 4>")
		t.Dims = []Dim{p.dim()}
	default:
		for more := true; more; more = p.got(',') {
			t.Elems = append(t.Elems, p.typ())
		}
	}
	p.want('>', "at the end of the type", "write it like tensor<fp16, [1, 64, 1, 32]>")
	switch {
	case t.Kind == State && len(t.Elems) != 1:
		panic(p.fault(word.pos, "a state holds one type", "write state<tensor<fp16, [1, 64, 1, 32]>>"))
	case t.Kind == Dict && len(t.Elems) != 2:
		panic(p.fault(word.pos, "a dict has two types", "write dict<string, string>"))
	}
	return t
}

// tensor reads the scalar and the dimensions of a tensor.
func (p *parser) tensor(t *Type) {
	const form = "write tensor<fp16, [1, 64, 1, 32]>"
	p.elements(t, form)
	p.want(',', "after the tensor's scalar type", form)
	p.want('[', "before the dimensions", form)
	gather(p, &p.dims, &t.Dims, ']', "a dimension", p.dim)
}

// elements reads the scalar type of a tensor.
func (p *parser) elements(t *Type, form string) {
	if p.tok.kind == tokIdent {
		t.DType = ParseDType(p.tok.text)
	}
	if t.DType == NoType {
		panic(p.expected("a scalar type", p.meant(slices.Sorted(maps.Keys(typeWords))...)+
			"a tensor's elements are fp16, fp32, int32, bool, string ..: "+form))
	}
	p.next()
}

// buffer reads the scalar type of a tensor_buffer and its three lists, of which shape is needed.
func (p *parser) buffer(t *Type) {
	const form = "write tensor_buffer<fp16, shape=[1, 64, 1, 32], strides=[2048, 32, 32, 1], " +
		"interleave_factors=[1, 1, 1, 1]>"
	start := p.tok.pos
	p.elements(t, form)
	t.Buffer = &Buffer{}
	given := map[string]bool{}
	for p.got(',') {
		field := p.tok
		if !slices.Contains(bufferFields, field.text) || field.kind != tokIdent {
			panic(p.expected("shape, strides or interleave_factors", p.meant(bufferFields...)+form))
		}
		if given[field.text] {
			panic(p.fault(field.pos, field.text+" is given twice", form))
		}
		given[field.text] = true
		p.next()
		p.want('=', "after "+field.text, form)
		p.want('[', "before the numbers of "+field.text, form)
		if field.text == "shape" {
			gather(p, &p.dims, &t.Dims, ']', "a dimension", p.dim)
			continue
		}
		list := []int{}
		p.list(']', "a number", func() {
			n := p.dim()
			if !n.Known() {
				p.report(field.pos, field.text+" of a tensor_buffer is not a number: "+n.Symbol, form)
			}
			list = append(list, n.Size)
		})
		if field.text == "strides" {
			t.Buffer.Strides = list
		} else {
			t.Buffer.Interleave = list
		}
	}
	if !given["shape"] {
		p.report(start, "a tensor_buffer needs a shape", form)
		t.Buffer = &Buffer{}
	}
}

// bufferFields has the names of the lists of a tensor_buffer, in their order.
var bufferFields = []string{"shape", "strides", "interleave_factors"}

// dim reads a dimension: a size, "?" or a symbol.
func (p *parser) dim() (d Dim) {
	switch {
	case p.tok.kind == '?':
		d.Symbol = "?"
	case p.tok.kind == tokIdent:
		d.Symbol = p.tok.text
	case p.tok.kind == tokNumber && span(p.tok.text, digits) == len(p.tok.text):
		n, err := strconv.Atoi(p.tok.text)
		if err != nil {
			panic(p.fault(p.tok.pos, "dimension "+quoteShort(p.tok.text)+" is too large",
				"sizes are at most 9223372036854775807"))
		}
		d.Size = n
	default:
		panic(p.expected("a dimension", `dimensions are whole numbers, "?" or names`))
	}
	p.next()
	return d
}
