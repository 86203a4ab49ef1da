package plan

import (
	"slices"

	"github.com/anekit/anekit/internal/engine/soft/kernels"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// The steps of cond and while_loop lie among the others, in the order of the text, between steps that leap. So blocks
// share scratch, constants, fused steps and weights with the program around them, and a run of a block takes no memory.
//
//	cond:        leap to no unless pred; yes; copy its results; leap to end; no: no; copy its results; end:
//	while_loop:  copy the first values; start: condition; leap to end unless it; body; copy its results; leap to start; end:

// mark is where a leap goes. The node of the mark and those of its leaps share it.
type mark struct{ at int }

// leap is the Attrs of the node of a leap, which goes to the mark, unless its operand is true. copied and marked are
// those of the other two.
type (
	leap   struct{ to *mark }
	marked struct{ *mark }
	copied struct{}
)

// isControl reports whether a node is of no program: a copy, a leap or a mark.
func isControl(n *ops.Node) bool {
	switch n.Attrs.(type) {
	case leap, marked, copied:
		return true
	}
	return false
}

// flattening is the state of flatten.
type flattening struct {
	nodes []*ops.Node
	keep  map[*ops.Node]bool
	def   *ops.Def                  // of all nodes of no program
	alias map[*ops.Value]*ops.Value // of a result of a loop: the loop variable, which has its elements
}

// flatten returns g with the nodes of blocks among its own.
func flatten(g *ops.Graph) (*ops.Graph, map[*ops.Value]*ops.Value) {
	if !slices.ContainsFunc(g.Nodes, func(n *ops.Node) bool { return len(n.Blocks) > 0 }) {
		return g, nil
	}
	f := &flattening{keep: map[*ops.Node]bool{}, def: &ops.Def{Effect: true}, alias: map[*ops.Value]*ops.Value{}}
	needed := map[*ops.Value]bool{}
	for _, v := range g.Outputs {
		needed[v] = true
	}
	f.wanted(g.Nodes, needed)
	f.body(g.Nodes)
	flat := *g
	flat.Nodes = f.nodes
	return &flat, f.alias
}

// wanted finds the nodes to keep: those whose results are needed, and those that change a state.
func (f *flattening) wanted(nodes []*ops.Node, needed map[*ops.Value]bool) (effect bool) {
	for _, n := range slices.Backward(nodes) {
		own := n.Def.Effect
		for _, b := range n.Blocks {
			own = changes(b.Nodes) || own
		}
		effect = effect || own
		if !own && !slices.ContainsFunc(n.Out, func(v *ops.Value) bool { return needed[v] }) {
			continue
		}
		f.keep[n] = true
		for _, b := range n.Blocks {
			for _, v := range b.Results {
				needed[v] = true
			}
			f.wanted(b.Nodes, needed)
		}
		for _, v := range n.In {
			needed[v] = true
		}
	}
	return effect
}

// changes reports whether nodes change a state.
func changes(nodes []*ops.Node) bool {
	return slices.ContainsFunc(nodes, func(n *ops.Node) bool {
		return n.Def.Effect || slices.ContainsFunc(n.Blocks, func(b *ops.Body) bool { return changes(b.Nodes) })
	})
}

func (f *flattening) body(nodes []*ops.Node) {
	for _, n := range nodes {
		switch {
		case !f.keep[n]:
		case len(n.Blocks) == 0:
			f.nodes = append(f.nodes, n)
		case n.Def.Name == "cond":
			f.cond(n)
		default:
			f.loop(n)
		}
	}
}

// add adds a node of no program.
func (f *flattening) add(n *ops.Node, attrs any, in, out []*ops.Value) {
	f.nodes = append(f.nodes, &ops.Node{Def: f.def, Op: n.Op, Attrs: attrs, In: in, Out: out})
}

func (f *flattening) copy(n *ops.Node, from, to *ops.Value) {
	f.add(n, copied{}, []*ops.Value{from}, []*ops.Value{to})
}

func (f *flattening) cond(n *ops.Node) {
	no, end := &mark{}, &mark{}
	f.add(n, leap{no}, n.In[:1], nil)
	for i, b := range n.Blocks {
		f.body(b.Nodes)
		for k, v := range b.Results {
			f.copy(n, v, n.Out[k])
		}
		if i == 0 {
			f.add(n, leap{end}, nil, nil)
			f.add(n, marked{no}, nil, nil)
		}
	}
	f.add(n, marked{end}, nil, nil)
}

func (f *flattening) loop(n *ops.Node) {
	start, end := &mark{}, &mark{}
	test, body := n.Blocks[0], n.Blocks[1]
	for i, v := range body.Params {
		f.copy(n, n.In[i], v)
		f.alias[n.Out[i]] = v
	}
	f.add(n, marked{start}, nil, nil)
	f.body(test.Nodes)
	f.add(n, leap{end}, test.Results, nil)
	f.body(body.Nodes)
	// A result that is a loop variable itself, or seen through a view, is saved before any variable changes.
	results := slices.Clone(body.Results)
	for i, v := range results {
		if made := v.Made; v == body.Params[i] || made != nil && made.Within == n && len(made.Blocks) == 0 &&
			!isView(made) && made.Def.Family != ops.States {
			continue
		}
		results[i] = &ops.Value{Name: v.Name, Pos: v.Pos, DType: v.DType, Shape: v.Shape}
		f.copy(n, v, results[i])
	}
	for i, v := range results {
		if v != body.Params[i] {
			f.copy(n, v, body.Params[i])
		}
	}
	f.add(n, leap{start}, nil, nil)
	f.add(n, marked{end}, nil, nil)
}

// emitControl adds the step of a node of no program, and reports whether n is one.
func (p *planner) emitControl(n *ops.Node) bool {
	s := Step{pos: n.Op.Pos, In: p.locate(n.In...), Out: p.locate(n.Out...)}
	switch a := n.Attrs.(type) {
	case copied:
		s.kernel = kernels.Copy
	case leap:
		s.kernel, s.leap = leaps, a.to
	case marked:
		s.kernel, s.mark = leaps, a.mark
	default:
		return false
	}
	p.Steps = append(p.Steps, s)
	return true
}

// leaps is the kernel of leaps and marks.
func leaps(*kernels.Step) (run.Runner, int) { return run.Leap{}, 0 }

// land sets where leaps go, once the steps have their order.
func (p *planner) land() {
	for i := range p.Steps {
		if m := p.Steps[i].mark; m != nil {
			m.at = i
		}
	}
	for i := range p.Steps {
		if s := &p.Steps[i]; s.leap != nil {
			s.To = s.leap.at + 1
		}
	}
}

// stretch lets a value that is made before a loop and last used in it live until the end of the loop, because the next
// iteration uses it again. It returns the values that end with the last step of each loop.
func (p *planner) stretch(last map[*ops.Value]int) map[int][]*ops.Value {
	p.land()
	ends := map[int][]*ops.Value{}
	first := map[*ops.Value]int{}
	for i := len(p.Steps) - 1; i >= 0; i-- {
		for _, at := range slices.Concat(p.Steps[i].In, p.Steps[i].Out) {
			first[at.owner] = i
		}
	}
	for i := range p.Steps { // an inner loop ends before the outer one
		begin := p.Steps[i].To
		if p.Steps[i].leap == nil || begin > i {
			continue
		}
		for v, at := range last {
			if first[v] < begin && at >= begin && at < i {
				last[v] = i
				ends[i] = append(ends[i], v)
			}
		}
	}
	return ends
}
