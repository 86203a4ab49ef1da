package coreml

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
)

// typ reads a ValueType.
func (r *reader) typ(v value) (t mil.Type) {
	found := false
	r.each(v, func(name string, v value) {
		found = true
		switch name {
		case "tensorType":
			t = r.tensor(v)
		case "listType":
			t = r.list(v)
		case "tupleType":
			t = mil.Type{Kind: mil.Tuple, Elems: r.elems(v)}
		case "dictionaryType":
			t = mil.Type{Kind: mil.Dict, Elems: r.elems(v)}
		case "stateType":
			t = mil.Type{Kind: mil.State, Elems: r.elems(v)}
		}
	})
	want := map[mil.Kind]int{mil.Dict: 2, mil.State: 1, mil.List: 1}
	if n, fixed := want[t.Kind]; !found || fixed && len(t.Elems) != n {
		r.fail(v.b, broken, "a type is incomplete")
	}
	return t
}

// elems reads the types that a type consists of. Those of a dictionary are in the order key, value.
func (r *reader) elems(v value) []mil.Type {
	var list []mil.Type
	r.each(v, func(_ string, v value) { list = append(list, r.typ(v)) })
	return list
}

func (r *reader) list(v value) mil.Type {
	t := mil.Type{Kind: mil.List, Dims: []mil.Dim{{Symbol: unknown}}}
	r.each(v, func(name string, v value) {
		if name == "type" {
			t.Elems = append(t.Elems, r.typ(v))
		} else {
			t.Dims[0] = r.dim(v)
		}
	})
	return t
}

func (r *reader) tensor(v value) mil.Type {
	t := mil.Type{Kind: mil.Tensor}
	rank := int64(0)
	r.each(v, func(name string, v value) {
		switch name {
		case "dataType":
			word := scalars[v.n]
			if t.DType = mil.ParseDType(word); t.DType == mil.NoType {
				r.fail(v.b, "MIL text has no such type here; convert the model with another precision",
					"a tensor of the scalar type %d %s", v.n, word)
			}
		case "rank":
			rank = int64(v.n)
		case "dimensions":
			t.Dims = append(t.Dims, r.dim(v))
		case "attributes":
			key, _ := r.entry(v)
			r.note("attribute %s of a tensor type was not read", short(key))
		}
	})
	switch {
	case rank < 0:
		r.fail(v.b, "convert the model with inputs of a fixed rank", "a tensor of unknown rank")
	case rank != int64(len(t.Dims)):
		r.fail(v.b, broken, "a tensor of rank %d has %d axes", rank, len(t.Dims))
	case t.DType == mil.NoType:
		r.fail(v.b, broken, "a tensor has no scalar type")
	case rank == 0 && !r.boxed:
		t.Kind = mil.Scalar
	}
	return t
}

// unknown is the length of an axis that the type leaves open.
const unknown = "?"

func (r *reader) dim(v value) mil.Dim {
	d := mil.Dim{Symbol: unknown}
	r.each(v, func(name string, v value) {
		d = mil.Dim{Symbol: unknown}
		if name != "constant" {
			return
		}
		d.Symbol = ""
		r.each(v, func(_ string, v value) {
			if d.Size = int(v.n); v.n > math.MaxInt {
				r.fail(v.b, broken, "an axis of %d elements", v.n)
			}
		})
	})
	return d
}
