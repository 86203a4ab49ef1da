package mil

// Blobs returns every reference to a weight file in the program, in the order of
// the text.
func (p *Program) Blobs() (found []*Blob) {
	p.each(func(n any) {
		if b, ok := n.(*Blob); ok {
			found = append(found, b)
		}
	})
	return found
}

// Weights returns every value whose elements are in a weight file, in the order of
// the text.
func (p *Program) Weights() (found []*Value) {
	p.each(func(n any) {
		if v, ok := n.(*Value); ok && v.Blob() != nil {
			found = append(found, v)
		}
	})
	return found
}

// each calls visit for every operand and literal of the statements, in the order of the text.
func (p *Program) each(visit func(any)) {
	var down func(any)
	down = func(n any) {
		if !absent(n) {
			visit(n)
			children(n, down)
		}
	}
	for _, f := range p.Funcs {
		for _, op := range f.Body {
			children(&Nested{Args: op.Args, Attrs: op.Attrs}, down)
		}
	}
}

// children calls visit for each operand and literal that n holds, in the order of the text.
// n is one of them, and not absent.
func children(n any, visit func(any)) {
	switch n := n.(type) {
	case *Value:
		visit(n.Literal)
	case *Values:
		for _, item := range n.Items {
			visit(item)
		}
	case *Nested:
		for _, args := range [][]Arg{n.Args, n.Attrs} {
			for _, a := range args {
				visit(a.Value)
			}
		}
	case *Blob:
		visit(n.Path)
		visit(n.Offset)
	case *ListLit:
		for _, item := range n.Items {
			visit(item)
		}
	case *TupleLit:
		for _, item := range n.Items {
			visit(item)
		}
	case *DictLit:
		for _, p := range n.Pairs {
			visit(p.Key)
			visit(p.Value)
		}
	}
}
