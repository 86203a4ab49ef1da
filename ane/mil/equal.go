package mil

// Equal reports whether a and b are the same program: it compares everything but
// positions. Numbers compare as written, so 1 and 1.0 differ. A tree nested deeper
// than MaxNesting is not equal to any tree, not even to itself.
func Equal(a, b *Program) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Version == b.Version && equalArgs(a.Attrs, b.Attrs, 0) && equalAll(a.Funcs, b.Funcs, equalFunc)
}

// equalAll compares two lists item by item.
func equalAll[T any](a, b []T, equal func(a, b T) bool) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func equalFunc(a, b *Function) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Name == b.Name && a.Opset == b.Opset && equalAll(a.Params, b.Params, equalVar) &&
		equalArgs(a.Attrs, b.Attrs, 0) && equalAll(a.Body, b.Body, equalOp) &&
		equalAll(a.Results, b.Results, func(a, b Ref) bool { return a.Name == b.Name })
}

func equalVar(a, b Var) bool { return a.Name == b.Name && a.Type.equal(b.Type, false, 0) }

func equalOp(a, b *Op) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Kind == b.Kind && equalAll(a.Results, b.Results, equalVar) &&
		equalArgs(a.Args, b.Args, 0) && equalArgs(a.Attrs, b.Attrs, 0)
}

func equalArgs(a, b []Arg, depth int) bool {
	return equalAll(a, b, func(a, b Arg) bool {
		return a.Name == b.Name && equalOperand(a.Value, b.Value, depth+1)
	})
}

func equalOperand(a, b Operand, depth int) bool {
	if a == nil || b == nil {
		return a == b
	}
	if depth > 2*MaxNesting {
		return false
	}
	switch a := a.(type) {
	case Ref:
		b, ok := b.(Ref)
		return ok && a.Name == b.Name
	case *Value:
		b, ok := b.(*Value)
		return ok && equalValue(a, b, depth)
	case *Values:
		b, ok := b.(*Values)
		if !ok || a == nil || b == nil {
			return ok && a == b
		}
		return equalAll(a.Items, b.Items, func(a, b Operand) bool { return equalOperand(a, b, depth+1) })
	case *Nested:
		b, ok := b.(*Nested)
		if !ok || a == nil || b == nil {
			return ok && a == b
		}
		return equalArgs(a.Args, b.Args, depth) && equalArgs(a.Attrs, b.Attrs, depth)
	}
	return false
}

func equalValue(a, b *Value, depth int) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Type.equal(b.Type, false, 0) && equalLiteral(a.Literal, b.Literal, depth+1)
}

func equalLiteral(a, b Literal, depth int) bool {
	if a == nil || b == nil {
		return a == b
	}
	if depth > 2*MaxNesting {
		return false
	}
	switch a := a.(type) {
	case Number:
		b, ok := b.(Number)
		return ok && a.Text == b.Text
	case BoolLit:
		b, ok := b.(BoolLit)
		return ok && a.Value == b.Value
	case StringLit:
		b, ok := b.(StringLit)
		return ok && a.Value == b.Value
	case *Value:
		b, ok := b.(*Value)
		return ok && equalValue(a, b, depth)
	default:
		return equalComposite(a, b, depth)
	}
}

// equalComposite compares literals that contain other literals.
func equalComposite(a, b Literal, depth int) bool {
	each := func(a, b Literal) bool { return equalLiteral(a, b, depth+1) }
	switch a := a.(type) {
	case *Blob:
		b, ok := b.(*Blob)
		if !ok || a == nil || b == nil {
			return ok && a == b
		}
		return equalValue(a.Path, b.Path, depth) && equalValue(a.Offset, b.Offset, depth)
	case *ListLit:
		b, ok := b.(*ListLit)
		if !ok || a == nil || b == nil {
			return ok && a == b
		}
		return equalAll(a.Items, b.Items, each)
	case *TupleLit:
		b, ok := b.(*TupleLit)
		if !ok || a == nil || b == nil {
			return ok && a == b
		}
		return equalAll(a.Items, b.Items, each)
	case *DictLit:
		b, ok := b.(*DictLit)
		if !ok || a == nil || b == nil {
			return ok && a == b
		}
		return equalAll(a.Pairs, b.Pairs, func(a, b Pair) bool { return each(a.Key, b.Key) && each(a.Value, b.Value) })
	}
	return false
}
