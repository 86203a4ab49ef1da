package mil

import (
	"fmt"
	"slices"
)

// each calls visit for every element of v in row-major order. First it checks that the literal has as many elements as
// the type says and, where lists nest, the nesting of its dimensions. It stops at the first fault.
func (v *Value) each(during *watch, visit func(DType, Literal) *Error) *Error {
	w := walker{typ: v.Type, visit: visit, during: during}
	l, err := w.unwrap(v.Literal, v.Type)
	if err != nil {
		return err
	}
	n, known := v.Type.Elements()
	if _, fixed := v.Type.Shape(); fixed && !known {
		return &Error{Pos: v.Pos, Msg: shorten(v.Type.String()) + ": the number of elements is unknown or too large",
			Hint: "give every dimension a fixed size"}
	}
	list, ok := l.(*ListLit)
	switch {
	case absent(l):
		return &Error{Pos: v.Pos, Msg: shorten(v.Type.String()) + " without a literal",
			Hint: "write " + shorten(v.Type.String()) + "(..)"}
	case ok && len(v.Type.Dims) == 0:
		return &Error{Pos: list.Pos, Msg: "a list for the scalar type " + v.Type.String(),
			Hint: fmt.Sprintf("write %v without brackets, or give the type of the list, as %v", v.Type.DType,
				TensorOf(v.Type.DType, len(list.Items)))}
	case ok && slices.ContainsFunc(list.Items, isList):
		return w.level(list, v.Type.Dims)
	case ok && known:
		return w.level(list, []Dim{{Size: n}})
	case ok:
		return w.level(list, []Dim{{Symbol: "?"}})
	case known && n != 1:
		return &Error{Pos: l.literal(), Msg: fmt.Sprintf("one element where %s needs %d", shorten(v.Type.String()), n),
			Hint: "write a list in brackets"}
	}
	return visit(v.Type.DType, l)
}

// walker visits the elements of a literal.
type walker struct {
	typ    Type
	visit  func(DType, Literal) *Error
	during *watch
}

// unwrap removes typed literals around l. Each must have the type want or be a scalar of the elements' type.
func (w *walker) unwrap(l Literal, want Type) (Literal, *Error) {
	for range MaxNesting {
		switch x := l.(type) {
		case *Blob:
			if x != nil {
				return nil, &Error{Pos: x.Pos, Msg: "the elements of this " + shorten(w.typ.String()) +
					" are needed in the text", Hint: "write them as a list"}
			}
			return l, nil
		case *Value:
			if x == nil {
				return l, nil
			}
			if !x.Type.Same(want) && !x.Type.Same(ScalarOf(w.typ.DType)) {
				return nil, &Error{Pos: x.Pos, Msg: shorten(x.Type.String()) + " inside " + shorten(w.typ.String()),
					Hint: "write elements of type " + w.typ.DType.String()}
			}
			l = x.Literal
		default:
			return l, nil
		}
	}
	return nil, &Error{Pos: l.literal(), Msg: "nested too deep", Hint: "nest as deep as the type has dimensions"}
}

func isList(l Literal) bool {
	list, ok := l.(*ListLit)
	return ok && list != nil
}

// level visits a list that spans the dimensions dims.
func (w *walker) level(l *ListLit, dims []Dim) *Error {
	if dims[0].Known() && len(l.Items) != dims[0].Size {
		return &Error{Pos: l.Pos, Msg: fmt.Sprintf("list of %d where %s needs %d", len(l.Items), shorten(w.typ.String()),
			dims[0].Size), Hint: "make type and list agree"}
	}
	for _, item := range l.Items {
		err := w.during.fault()
		switch {
		case err != nil:
		case len(dims) == 1:
			err = w.element(item)
		case isList(item):
			err = w.level(item.(*ListLit), dims[1:])
		default:
			err = mismatch(item, fmt.Sprintf("a list, since %s nests %d deep", shorten(w.typ.String()), len(w.typ.Dims)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// element visits an item of an innermost list.
func (w *walker) element(item Literal) *Error {
	if _, ok := item.(*Value); ok {
		inner, err := w.unwrap(item, ScalarOf(w.typ.DType))
		if err != nil {
			return err
		}
		item = inner
	}
	if isList(item) {
		return &Error{Pos: item.literal(), Msg: fmt.Sprintf("list nested deeper than the %d dimensions of %s",
			len(w.typ.Dims), shorten(w.typ.String())),
			Hint: "nest as deep as the type has dimensions, or write one flat list"}
	}
	return w.visit(w.typ.DType, item)
}
