package coreml

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/anekit/anekit/ane/mil"
)

// flexibleShapes is the attribute of a function that has the shapes of its flexible inputs. Its value is a tuple of
// pairs of a name and a dictionary by inputs.
const (
	flexibleShapes = "FlexibleShapeInformation"
	defaultShapes  = "DefaultShapes"    // to a shape
	enumerated     = "EnumeratedShapes" // from the names of choices, to dictionaries by inputs, to a shape
	rangeDims      = "RangeDims"        // to the least and greatest length of each axis
)

// flexible adds FlexibleShapeInformation to a function: of each input whose description lists shapes or ranges, even
// ranges of one length each.
func (r *reader) flexible(f *mil.Function, d *Function) {
	for _, a := range f.Attrs {
		if a.Name == flexibleShapes {
			return
		}
	}
	var defaults, ranges []mil.Pair
	var listed []Feature
	ranks := map[string]int{}
	for _, p := range f.Params {
		if p.Type.Kind == mil.Tensor {
			ranks[p.Name] = len(p.Type.Dims)
		}
	}
	for _, in := range d.Inputs {
		rank, ok := ranks[in.Name]
		switch {
		case !ok || len(in.Shapes)+len(in.Ranges) == 0:
			continue
		case len(in.Shape) != rank:
			r.note("input %s has a shape of %d axes in the description, %d in the program", short(in.Name),
				len(in.Shape), rank)
			continue
		}
		defaults = append(defaults, pair(in.Name, shape(in.Shape)))
		switch {
		case len(in.Shapes) > 0:
			listed = append(listed, in)
		case len(in.Ranges) == rank:
			list := &mil.ListLit{}
			for _, s := range in.Ranges {
				list.Items = append(list.Items, shape(s[:]))
			}
			ranges = append(ranges, pair(in.Name, list))
		}
	}
	if len(defaults) == 0 {
		return
	}
	key := r.scalar(mil.String)
	lengths := mil.Type{Kind: mil.Tensor, DType: mil.Int32, Dims: []mil.Dim{{Symbol: unknown}}}
	v := &mil.Value{Type: mil.Type{Kind: mil.Tuple}}
	all := &mil.TupleLit{}
	add := func(name string, t mil.Type, pairs []mil.Pair) {
		if len(pairs) == 0 {
			return
		}
		v.Type.Elems = append(v.Type.Elems, mil.Type{Kind: mil.Tuple, Elems: []mil.Type{key, dictOf(key, t)}})
		all.Items = append(all.Items, &mil.TupleLit{Items: []mil.Literal{word(name), &mil.DictLit{Pairs: pairs}}})
	}
	add(defaultShapes, lengths, defaults)
	add(enumerated, dictOf(key, lengths), combine(listed))
	add(rangeDims, mil.Type{Kind: mil.List, Dims: []mil.Dim{{Symbol: unknown}},
		Elems: []mil.Type{mil.TensorOf(mil.Int32, 2)}}, ranges)
	v.Literal = all
	f.Attrs = append(f.Attrs, mil.A(flexibleShapes, v))
}

// choose makes a given shape the default one of an input, in every function and part that leaves axes of it open and
// allows the shape. It reports whether there is any.
func (m *Model) choose(name string, given map[string][]int) (found bool) {
	for _, p := range m.parts {
		found = p.choose(name, given) || found
	}
	lengths := given[name]
	if m.tree == nil {
		return found
	}
	for _, f := range m.tree.Funcs {
		i := slices.IndexFunc(f.Params, func(p mil.Var) bool { return p.Name == name })
		d := m.Description.Function(f.Name)
		in := d.Input(name)
		if i < 0 || !fits(f.Params[i].Type, lengths) || in != nil && !in.allows(lengths) {
			continue
		}
		found = true
		if in == nil {
			setDefault(f, name, lengths)
			continue
		}
		set := func(in *Feature, lengths []int) {
			in.Shape = slices.Clone(lengths)
			setDefault(f, in.Name, lengths)
		}
		set(in, lengths)
		choice := slices.IndexFunc(in.Shapes, func(s []int) bool { return slices.Equal(s, lengths) })
		for j := range d.Inputs { // those without a shape of their own take that of the same choice
			other := &d.Inputs[j]
			if _, own := given[other.Name]; !own && choice >= 0 && choice < len(other.Shapes) {
				set(other, other.Shapes[choice])
			}
		}
	}
	return found
}

// setDefault changes the default shape of an input in the FlexibleShapeInformation of a function.
func setDefault(f *mil.Function, name string, lengths []int) {
	for _, a := range f.Attrs {
		if a.Name == flexibleShapes {
			replace(a.Value, name, shape(lengths))
		}
	}
}

// fits reports whether a type with open axes can have a shape.
func fits(t mil.Type, lengths []int) bool {
	if _, fixed := t.Shape(); fixed || t.Kind != mil.Tensor || len(t.Dims) != len(lengths) {
		return false
	}
	for i, d := range t.Dims {
		if lengths[i] <= 0 || d.Known() && d.Size != lengths[i] {
			return false
		}
	}
	return true
}

// allows reports whether the description of an input allows a shape.
func (f *Feature) allows(lengths []int) bool {
	for i, r := range f.Ranges {
		if i < len(lengths) && (lengths[i] < r[0] || r[1] >= 0 && lengths[i] > r[1]) {
			return false
		}
	}
	return len(f.Shapes) == 0 || slices.ContainsFunc(f.Shapes, func(s []int) bool { return slices.Equal(s, lengths) })
}

// allowed says which shapes an input may take.
func (m *Model) allowed(name string) string {
	for _, p := range append(slices.Clone(m.parts), m) {
		if p.tree == nil {
			continue
		}
		for _, f := range p.tree.Funcs {
			for _, x := range f.Params {
				in := p.Description.Function(f.Name).Input(name)
				switch {
				case x.Name != name:
				case in == nil || len(in.Ranges)+len(in.Shapes) == 0:
					return "its type is " + short(x.Type.String())
				case len(in.Shapes) > 0:
					return fmt.Sprintf("it may be one of %v", in.Shapes[:min(len(in.Shapes), 8)])
				default:
					return fmt.Sprintf("each axis has a least and a greatest length: %v", in.Ranges)
				}
			}
		}
	}
	return "Description lists the inputs"
}

// replace changes the default shape of an input in the value of FlexibleShapeInformation.
func replace(value mil.Operand, name string, to mil.Literal) {
	v, _ := value.(*mil.Value)
	if v == nil {
		return
	}
	all, _ := v.Literal.(*mil.TupleLit)
	if all == nil {
		return
	}
	for _, l := range all.Items {
		part, _ := l.(*mil.TupleLit)
		if part == nil || len(part.Items) != 2 {
			continue
		}
		if s, ok := part.Items[0].(mil.StringLit); !ok || s.Value != defaultShapes {
			continue
		}
		d, _ := part.Items[1].(*mil.DictLit)
		if d == nil {
			continue
		}
		for i := range d.Pairs {
			if s, ok := d.Pairs[i].Key.(mil.StringLit); ok && s.Value == name {
				d.Pairs[i].Value = to
			}
		}
	}
}

// combine makes the choices of several inputs, which go together by their place in the lists. A choice leaves an input
// with a shorter list at its default.
func combine(inputs []Feature) (all []mil.Pair) {
	choices := [][]mil.Pair{}
	for _, in := range inputs {
		for i, s := range in.Shapes {
			if i == len(choices) {
				choices = append(choices, nil)
			}
			choices[i] = append(choices[i], pair(in.Name, shape(s)))
		}
	}
	for i, c := range choices {
		all = append(all, pair(strconv.Itoa(i), &mil.DictLit{Pairs: c}))
	}
	return all
}

// openAxes returns the ranks of the parameters with axes that are open.
func openAxes(f *mil.Function) map[string]int {
	open := map[string]int{}
	for _, p := range f.Params {
		if _, fixed := p.Type.Shape(); p.Type.Kind == mil.Tensor && !fixed {
			open[p.Name] = len(p.Type.Dims)
		}
	}
	return open
}

func dictOf(key, content mil.Type) mil.Type {
	return mil.Type{Kind: mil.Dict, Elems: []mil.Type{key, content}}
}

func word(s string) mil.Literal { return mil.StringLit{Value: s} }

func pair(key string, content mil.Literal) mil.Pair { return mil.Pair{Key: word(key), Value: content} }

// shape makes a list of lengths. Those of a greater length than int32 holds are the greatest that it holds.
func shape(lengths []int) *mil.ListLit {
	l := &mil.ListLit{Items: make([]mil.Literal, len(lengths))}
	for i, n := range lengths {
		l.Items[i] = mil.Number{Text: strconv.Itoa(min(n, math.MaxInt32))}
	}
	return l
}

// labels returns the labels of a classifier, the argument classes of its operator classify.
func labels(f *mil.Function) []string {
	consts := map[string]*mil.Value{}
	for _, op := range f.Body {
		switch op.Kind {
		case "const":
			if val := op.Attr("val"); val != nil && len(op.Results) == 1 {
				consts[op.Results[0].Name], _ = val.Value.(*mil.Value)
			}
		case "classify":
			if arg := op.Arg("classes"); arg != nil {
				v, inline := arg.Value.(*mil.Value)
				if ref, ok := arg.Value.(mil.Ref); ok && !inline {
					v = consts[ref.Name]
				}
				return words(v)
			}
		}
	}
	return nil
}

// words returns the texts and the numbers of a list.
func words(v *mil.Value) (all []string) {
	if v == nil {
		return nil
	}
	list, _ := v.Literal.(*mil.ListLit)
	if list == nil {
		return nil
	}
	for _, l := range list.Items {
		switch l := l.(type) {
		case mil.StringLit:
			all = append(all, l.Value)
		case mil.Number:
			all = append(all, l.Text)
		}
	}
	return all
}
