package soft

import (
	"maps"
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/ops"
)

// links are what an instance of a plan is made from: where constants came from and
// what was computed of them. An instance has its own, which differ in the weights.
type links struct {
	file    string // of the program, for messages
	weights []*ops.Weight
	nodes   []*ops.Node // folded ones that depend on weights, in order
	// depend holds the weights, and the results of nodes; it does not change.
	depend map[*ops.Value]bool
	// keep holds the weights, and the operands of nodes with several: these are
	// needed again when another operand changes. It does not change.
	keep  map[*ops.Value]bool
	known map[*ops.Value][]byte // the elements of keep that are not a Value's Data
}

// start notes the weights that nodes read.
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
			one.Value = nil // dropped with the nodes that no output needs: it has to fit, no more
		}
		if one.Value != nil {
			l.depend[one.Value], l.keep[one.Value] = true, true
		}
		l.weights = append(l.weights, &one)
	}
}

// folded notes a node that was computed.
func (l *links) folded(n *ops.Node) {
	if !slices.ContainsFunc(n.In, func(v *ops.Value) bool { return l.depend[v] }) {
		return
	}
	// The text of the operation is not needed any more; its place is, for messages.
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

// settle keeps what will be needed of the constants of a plan.
func (l *links) settle(k *constants) {
	l.known = maps.Clone(k.known)
	maps.DeleteFunc(l.known, func(v *ops.Value, _ []byte) bool { return !l.keep[v] })
}
