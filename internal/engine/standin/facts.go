package standin

import (
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// tensor is an input or output in the program's text.
type tensor struct {
	name  string
	dtype mil.DType
	shape []int
}

// tensorsOf returns the inputs and outputs of a function in the order of the text.
func tensorsOf(f *mil.Function) (in, out []tensor, err error) {
	declared := map[string]mil.Var{}
	for _, v := range f.Params {
		declared[v.Name] = v
	}
	for _, op := range f.Body {
		for _, v := range op.Results {
			declared[v.Name] = v
		}
	}
	add := func(list *[]tensor, name string, at mil.Pos) error {
		v, ok := declared[name]
		shape, fixed := v.Type.Shape()
		if !ok || !fixed || len(shape) > len(order) || v.Type.DType.Size() == 0 {
			return &mil.Error{Pos: at, Msg: fmt.Sprintf("%s of function %s cannot be stored on a surface", name,
				f.Name),
				Hint: "give it a tensor type of fixed shape and at most 5 axes"}
		}
		*list = append(*list, tensor{name, v.Type.DType, slices.Clone(shape)})
		return nil
	}
	for _, v := range f.Params {
		if err := add(&in, v.Name, v.At); err != nil {
			return nil, nil, err
		}
	}
	for _, r := range f.Results {
		if err := add(&out, r.Name, r.Pos); err != nil {
			return nil, nil, err
		}
	}
	return in, out, nil
}
