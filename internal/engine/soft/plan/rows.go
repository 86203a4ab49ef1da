package plan

import (
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft/kernels"
	"github.com/anekit/anekit/internal/ops"
)

// onRows returns the index of each input with gaps that its only reader reads where it is, which saves a copy. reads
// counts the operands that are each value.
func (p *planner) onRows(reads map[*ops.Value]int) map[*ops.Value]*int {
	if p.alias != nil || p.Plan.arith.Operand != 0 || p.Plan.arith.Apart || p.Plan.arith.Only != 0 {
		return nil
	}
	rows := map[*ops.Value]*int{}
	for _, n := range p.nodes {
		if !kernels.TakesRows(n.Def.Name) || len(n.In) != 1 || reads[n.In[0]] != 1 ||
			slices.Contains(p.graph.Outputs, n.In[0]) {
			continue
		}
		i := slices.Index(p.graph.Inputs, n.In[0])
		if _, direct := p.places[n.In[0]]; i >= 0 && !direct {
			rows[n.In[0]] = &i
		}
	}
	return rows
}

// readRows makes a reduction read input i on its surface. It keeps a place for a copy.
func (s *Step) readRows(i int, inputs []ane.Layout) {
	s.Attrs = kernels.Rows{Reduce: s.Attrs.(ops.Reduce), Layout: inputs[i]}
	s.In, s.Out = append(s.In, onSurface(Input, i, inputs[i])...), append(s.Out, s.In[0])
}
