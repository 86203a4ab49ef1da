package ops

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// Node is one operation of the graph.
type Node struct {
	Def *Def
	Op  *mil.Op
	// In holds the tensor operands in the order of Def.Params, nil for an
	// absent one; the items of a variadic operand follow each other.
	In  []*Value
	Out []*Value
	// Attrs holds the settings, in the type that the table of the operator's family documents.
	Attrs any
	// Blocks are those of cond and while_loop. Within is the statement in a block of which the node is, or nil.
	Blocks []*Body
	Within *Node

	args   operands
	faulty bool // its call or its declared results have a fault
}

// link records that the node makes its results and uses its arguments.
func (n *Node) link() {
	for _, v := range n.Out {
		v.Made = n
	}
	for _, v := range n.Arguments() {
		if len(v.Uses) == 0 || v.Uses[len(v.Uses)-1] != n {
			v.Uses = append(v.Uses, n)
		}
	}
}

// param returns the parameter called name. An operator that the table does not have has every parameter.
func (n *Node) param(name string) *Param {
	if n.Def == nil {
		return &Param{Name: name}
	}
	return n.Def.Param(name)
}

// Value returns the operand or setting called name, of a list the first value, nil if it is absent.
func (n *Node) Value(name string) *Value {
	if a, ok := n.args.find(name); ok {
		return a.Values[0]
	}
	return nil
}

// List returns the values of an argument that is a list.
func (n *Node) List(name string) []*Value {
	a, _ := n.args.find(name)
	return a.Values
}

// Operands lists the operands that are tensors, without settings.
func (n *Node) Operands() []*Value { return slices.Collect(n.operands) }

// operands yields those of Operands.
func (n *Node) operands(yield func(*Value) bool) {
	for i := range n.Op.Args {
		name := n.Op.Args[i].Name
		if n.Def != nil {
			if p := n.Def.Param(name); p != nil && p.Const {
				continue
			}
		}
		for _, v := range n.List(name) {
			if v.DType != mil.String && !yield(v) {
				return
			}
		}
	}
}

// constants reports whether there are operands, and compiling knows all of them.
func (n *Node) constants() (all bool) {
	for v := range n.operands {
		if all = v.Folded; !all {
			return false
		}
	}
	return all
}

// Arguments lists the values of all arguments: operands and settings.
func (n *Node) Arguments() (all []*Value) {
	for _, a := range n.Op.Args {
		all = append(all, n.List(a.Name)...)
	}
	return all
}

// Ints returns the whole numbers of a setting; false if it is absent or not known.
func (n *Node) Ints(name string) (list []int, known bool) {
	v := n.Value(name)
	if v == nil || v.Data == nil || !v.DType.Integer() {
		return nil, false
	}
	for _, f := range v.Floats() {
		list = append(list, int(f))
	}
	return list, true
}

// Int returns a single whole number, def if it is absent.
func (n *Node) Int(name string, def int) int {
	if list, ok := n.Ints(name); ok && len(list) == 1 {
		return list[0]
	}
	return def
}

// Flag returns a truth value, false if it is absent.
func (n *Node) Flag(name string) bool {
	v := n.Value(name)
	return v != nil && v.DType == mil.Bool && slices.Equal(v.Data, []byte{1})
}

// Word returns a string, empty if it is absent.
func (n *Node) Word(name string) string {
	if v := n.Value(name); v != nil && len(v.Text) == 1 {
		return v.Text[0]
	}
	return ""
}

// Folded reports whether compiling computes all results of the statement, so that no engine runs it. Those of constexpr
// operators are weights, which engines may keep in their short form.
func (n *Node) Folded() bool {
	return len(n.Out) > 0 && !slices.ContainsFunc(n.Out, func(v *Value) bool { return !v.Folded })
}

// fold marks results of constants as known when compiling.
func (n *Node) fold() {
	constexpr := n.Def != nil && n.Def.constexpr()
	r, drawn := n.Attrs.(Random)
	folded := constexpr || len(n.Op.Blocks) == 0 && !(drawn && r.Seed < 0) && n.constants()
	for _, v := range n.Out {
		v.Folded = folded || v.Data != nil
		v.known = v.known || constexpr
	}
}
