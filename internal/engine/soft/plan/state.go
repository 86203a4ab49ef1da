package plan

import (
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/kernels"
	"github.com/anekit/anekit/internal/ops"
)

// A state is memory of the loaded program. It is all zero after Load, and keeps what an evaluation writes until Unload.
// No other program, instance or client of a broker sees it. An evaluation that fails may have written some of its
// states.

// placeStates gives each state its memory, after scratch.
func (p *planner) placeStates() error {
	for _, s := range p.graph.States {
		p.places[s] = Place{Where: State, Index: p.States}
		if p.States += align(s.Elements() * s.DType.Size()); p.States > maxScratch {
			return &mil.Error{Pos: s.Pos, Msg: fmt.Sprintf("states need %d bytes, at most %d", p.States, maxScratch),
				Hint: "make this state smaller"}
		}
	}
	return nil
}

// stateOf returns the state that a node takes and the tensor that it writes there, nil for a read.
func stateOf(n *ops.Node) (s, written *ops.Value) {
	switch n.Def.Name {
	case "read_state":
		return n.In[0], nil
	case "write_state", "coreml_update_state":
		return n.In[0], n.In[1]
	}
	return nil, nil
}

// readInPlace reports whether the result of read_state, node i, may be the memory of the state itself. It may if
// nothing reads the result after the next write of that state, and no output is copied from it after that write.
func (p *planner) readInPlace(i int) bool {
	if p.alias != nil {
		return false // the next iteration of a loop may write the state
	}
	s, _ := stateOf(p.nodes[i])
	same := map[*ops.Value]bool{p.nodes[i].Out[0]: true} // values in the memory of the state
	written := false
	for _, n := range p.nodes[i+1:] {
		if p.looks++; p.looks > maxLooks {
			return false // a copy is always right
		}
		uses := slices.ContainsFunc(n.In, func(v *ops.Value) bool { return same[v] })
		if written && uses {
			return false
		}
		to, data := stateOf(n)
		if to == s && data != nil {
			written = true
		}
		if isView(n) && uses || data != nil && same[data] {
			for _, v := range n.Out {
				same[v] = true
			}
		}
	}
	return !written || !slices.ContainsFunc(p.graph.Outputs, func(v *ops.Value) bool { return same[v] })
}

// maxLooks bounds the nodes that readInPlace visits for all reads of a program.
const maxLooks = 1 << 22

// viewState makes node i a view if it is a read that needs no copy, or an update: the result of that is the tensor that
// it writes.
func (p *planner) viewState(i int) {
	switch n := p.nodes[i]; n.Def.Name {
	case "read_state":
		if p.readInPlace(i) {
			p.root[n.Out[0]] = n.In[0]
		}
	case "coreml_update_state":
		p.root[n.Out[0]] = p.origin(n.In[1])
	}
}

// emitState adds the step of a node that takes a state. It reports whether n is such a node.
func (p *planner) emitState(n *ops.Node) bool {
	s, written := stateOf(n)
	if s == nil {
		return false
	}
	from, to := written, s
	if written == nil {
		if from, to = s, n.Out[0]; p.root[to] == s {
			return true
		}
	}
	p.Steps = append(p.Steps, Step{Op: n.Def.Name, pos: n.Op.Pos, kernel: kernels.Copy, In: p.locate(from),
		Out: p.locate(to)})
	return true
}
