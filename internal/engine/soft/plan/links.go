package plan

import (
	"maps"
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// links hold what makes an instance from a plan: the sources of constants and the
// nodes computed from them. An instance has its own links, which differ in the
// weights.
type links struct {
	File    string // of the program, for messages
	weights []*ops.Weight
	nodes   []*ops.Node // folded nodes that depend on weights, in order
	// depend holds the weights and the results of nodes. It does not change.
	depend map[*ops.Value]bool
	// keep holds the weights and the operands of nodes with several operands:
	// folding again needs them when another operand changes. It does not change.
	keep  map[*ops.Value]bool
	known map[*ops.Value][]byte // elements of the values in keep that differ from their Data
	// stored has the elements of packed weights that differ from their Stored.
	stored map[*ops.Value][]byte
}

// start records the weights and those that nodes read.
func (l *links) start(g *ops.Graph, nodes []*ops.Node) {
	l.depend, l.keep = map[*ops.Value]bool{}, map[*ops.Value]bool{}
	read := map[*ops.Value]bool{}
	for _, n := range nodes {
		for _, v := range n.In {
			read[v] = true
		}
	}
	for _, w := range g.Weights {
		one := *w
		if one.Value != nil && !read[one.Value] {
			one.Value = nil // no output needs it: instances only check its type and size
		}
		if one.Value != nil {
			l.depend[one.Value], l.keep[one.Value] = true, true
		}
		l.weights = append(l.weights, &one)
	}
}

// folded records a node that was computed ahead.
func (l *links) folded(n *ops.Node) {
	if !slices.ContainsFunc(n.In, func(v *ops.Value) bool { return l.depend[v] }) {
		return
	}
	// Instances do not need the text of the operation, only its position for
	// messages.
	l.nodes = append(l.nodes, &ops.Node{Def: n.Def, Op: &mil.Op{Pos: n.Op.Pos}, In: n.In, Out: n.Out, Attrs: n.Attrs})
	for _, v := range n.Out {
		l.depend[v] = true
	}
	if len(n.In) > 1 {
		for _, v := range n.In {
			l.keep[v] = true
		}
	}
}

// trim keeps the constants of a plan that instances need.
func (l *links) trim(k *constants) {
	l.known, l.stored = maps.Clone(k.known), k.stored
	maps.DeleteFunc(l.known, func(v *ops.Value, _ []byte) bool { return !l.keep[v] || v.Stored != nil })
}
