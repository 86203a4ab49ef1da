package coreml

import (
	"strconv"

	"github.com/anekit/anekit/ane/mil"
)

// inferred describes a program that has no description, from its types and FlexibleShapeInformation.
func inferred(p *mil.Program) (d Description) {
	for _, f := range p.Funcs {
		types := map[string]mil.Type{}
		for _, op := range f.Body {
			for _, x := range op.Results {
				types[x.Name] = x.Type
			}
		}
		out := Function{Name: f.Name, Labels: labels(f)}
		shapes := declared(f)
		for _, x := range f.Params {
			types[x.Name] = x.Type
			in := featureOf(x.Name, x.Type)
			if in.Kind == "stateType" {
				out.States = append(out.States, in)
				continue
			}
			shapes.set(&in)
			out.Inputs = append(out.Inputs, in)
		}
		for _, r := range f.Results {
			out.Outputs = append(out.Outputs, featureOf(r.Name, types[r.Name]))
		}
		d.Functions = append(d.Functions, out)
	}
	if f := p.Select(""); f != nil {
		d.Default = f.Name
	}
	return d
}

// featureOf describes a value by its type.
func featureOf(name string, t mil.Type) Feature {
	f := Feature{Name: name, Kind: "multiArrayType"}
	switch {
	case t.Kind == mil.State && len(t.Elems) == 1:
		f.Kind, t = "stateType", t.Elems[0]
	case t.Kind == mil.Dict:
		f.Kind = "dictionaryType"
	case t.DType == mil.String:
		f.Kind = "stringType"
	}
	f.DType = t.DType
	f.Shape, _ = t.Shape()
	return f
}

// flexibles is what FlexibleShapeInformation says, by inputs.
type flexibles struct {
	defaults map[string][]int
	choices  map[string][][]int
	ranges   map[string][][2]int
}

// declared reads FlexibleShapeInformation. It leaves out what has another form.
func declared(f *mil.Function) flexibles {
	all := flexibles{map[string][]int{}, map[string][][]int{}, map[string][][2]int{}}
	for _, a := range f.Attrs {
		v, ok := a.Value.(*mil.Value)
		if a.Name != flexibleShapes || !ok {
			continue
		}
		tuple, _ := v.Literal.(*mil.TupleLit)
		if tuple == nil {
			continue
		}
		for _, l := range tuple.Items {
			part, _ := l.(*mil.TupleLit)
			if part == nil || len(part.Items) != 2 {
				continue
			}
			name, _ := part.Items[0].(mil.StringLit)
			all.read(name.Value, part.Items[1])
		}
	}
	return all
}

// read reads one part of FlexibleShapeInformation.
func (s *flexibles) read(name string, l mil.Literal) {
	each(l, func(key string, l mil.Literal) {
		switch name {
		case defaultShapes:
			s.defaults[key] = numbers(l)
		case enumerated:
			each(l, func(key string, l mil.Literal) { s.choices[key] = append(s.choices[key], numbers(l)) })
		case rangeDims:
			list, _ := l.(*mil.ListLit)
			if list == nil {
				return
			}
			for _, l := range list.Items {
				if n := numbers(l); len(n) == 2 {
					s.ranges[key] = append(s.ranges[key], [2]int(n))
				}
			}
		}
	})
}

// set gives an input its shapes.
func (s *flexibles) set(in *Feature) {
	if d, ok := s.defaults[in.Name]; ok && in.Shape == nil {
		in.Shape = d
	}
	in.Shapes, in.Ranges = s.choices[in.Name], s.ranges[in.Name]
}

// each calls visit for the entries of a dictionary by texts.
func each(l mil.Literal, visit func(key string, l mil.Literal)) {
	d, _ := l.(*mil.DictLit)
	if d == nil {
		return
	}
	for _, p := range d.Pairs {
		if key, ok := p.Key.(mil.StringLit); ok {
			visit(key.Value, p.Value)
		}
	}
}

// numbers returns the integers of a list.
func numbers(l mil.Literal) (all []int) {
	list, _ := l.(*mil.ListLit)
	if list == nil {
		return nil
	}
	for _, l := range list.Items {
		if n, ok := l.(mil.Number); ok {
			i, _ := strconv.Atoi(n.Text) // 0 for what is no length
			all = append(all, i)
		}
	}
	return all
}
