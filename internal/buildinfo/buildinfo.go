// Package buildinfo reads and extends the attribute buildInfo of programs: names and what they stand for. Compilers
// write theirs there, and accept others'.
package buildinfo

import "github.com/anekit/anekit/ane/mil"

const name = "buildInfo"

// Products says how the software engine may multiply. With Words it may round what packed weights of 4 and 8 bits
// multiply to 16 bits, and add the products of a few vectors in any order, as language models bear. It may take the
// products of a vector of zeros for 0. Results are then those of no other engine to the bit.
const Products, Words = "anekit-products", "words"

// Of returns the strings of the attribute.
func Of(p *mil.Program) map[string]string {
	info := map[string]string{}
	for _, d := range dicts(p) {
		for _, pair := range d.Pairs {
			info[word(pair.Key)] = word(pair.Value)
		}
	}
	return info
}

// Add adds an entry to the attribute of a program that a builder made.
func Add(p *mil.Program, key, value string) {
	for _, d := range dicts(p) {
		d.Pairs = append(d.Pairs, mil.Pair{Key: mil.StringLit{Value: key}, Value: mil.StringLit{Value: value}})
	}
}

func dicts(p *mil.Program) (all []*mil.DictLit) {
	for _, attr := range p.Attrs {
		if v, ok := attr.Value.(*mil.Value); ok && v != nil && attr.Name == name {
			if d, ok := v.Literal.(*mil.DictLit); ok {
				all = append(all, d)
			}
		}
	}
	return all
}

// word returns the value of a string, which may be boxed; empty for another literal.
func word(l mil.Literal) string {
	switch l := l.(type) {
	case *mil.Value:
		return word(l.Literal)
	case mil.StringLit:
		return l.Value
	}
	return ""
}
