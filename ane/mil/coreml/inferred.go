package coreml

import (
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/shapes"
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
		flexible := shapes.Of(p, f)
		for _, x := range f.Params {
			types[x.Name] = x.Type
			in := featureOf(x.Name, x.Type)
			if in.Kind == "stateType" {
				out.States = append(out.States, in)
				continue
			}
			if in.Shape == nil {
				in.Shape = flexible.Default[x.Name]
			}
			in.Ranges = flexible.Ranges[x.Name]
			for _, e := range flexible.Enumerated {
				if shape, ok := e[x.Name]; ok {
					in.Shapes = append(in.Shapes, shape)
				}
			}
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
