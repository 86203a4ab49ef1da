package mil

// typed returns a likely typed form of a bare literal, for a hint.
func typed(l Literal) string {
	d := guess(l)
	list, ok := l.(*ListLit)
	switch {
	case d == NoType:
		return "a typed literal, such as dict<string, string>({{..}})"
	case !ok:
		return d.String() + "(" + shorten(literalText(l)) + ")"
	}
	text := "[..]"
	if len(list.Items) <= 8 {
		text = shorten(literalText(l))
	}
	return TensorOf(d, len(list.Items)).String() + "(" + text + ")"
}

// guess is the scalar type that a literal most likely means.
func guess(l Literal) DType {
	switch l := l.(type) {
	case BoolLit:
		return Bool
	case StringLit:
		return String
	case Number:
		if floatLooking(l.Text) {
			return FP16
		}
		return Int32
	case *ListLit:
		if len(l.Items) == 0 {
			return Int32
		}
		if _, nested := l.Items[0].(*ListLit); nested {
			return NoType
		}
		for _, item := range l.Items {
			if d := guess(item); d != Int32 {
				return d
			}
		}
		return Int32
	}
	return NoType
}

func literalText(l Literal) string {
	var p printer
	p.node(l)
	return p.out.String()
}
