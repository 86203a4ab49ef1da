package mil

// Blobs returns every reference to a weight file in the program, in the order of the text.
func (p *Program) Blobs() []*Blob { return nodes(p, func(*Blob) bool { return true }) }

// Weights returns every value whose elements are in a weight file, in the order of the text.
func (p *Program) Weights() []*Value { return nodes(p, func(v *Value) bool { return v.Blob() != nil }) }

// nodes returns the operands and literals of type T of the statements that keep accepts, in the order of the text.
func nodes[T any](p *Program, keep func(T) bool) (found []T) {
	var visit func(any)
	visit = func(n any) {
		if absent(n) {
			return
		}
		if t, ok := n.(T); ok && keep(t) {
			found = append(found, t)
		}
		children(n, visit)
	}
	for _, f := range p.Funcs {
		for op := range f.Ops() {
			children(&Nested{Args: op.Args, Attrs: op.Attrs}, visit)
		}
	}
	return found
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
