package plan

import (
	"slices"

	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/kernels"
	"github.com/anekit/anekit/internal/ops"
)

// A fused group is a step and the operators on each element of its result that follow it. It is a chain of such
// operators, or a product with its bias and activation. All members write the memory of the group's result. The first
// computes a piece, such as a tile of a product, and the others replace it while it is in the cache. Each has the
// runner that it would have alone, so fusing changes no bit.

const (
	// mostJoined bounds the steps of a group.
	mostJoined = 16
	// mostPassed bounds the steps that a group moves past, because it keeps its operands until then.
	mostPassed = 16
)

// fuse moves each step whose result only one operator reads, element by element, in front of that operator, and joins
// the two.
func (p *planner) fuse() {
	readers, maker := p.readers(), make(map[*ops.Value]int, len(p.Steps))
	groups := make([][]int, len(p.Steps)) // indexes of members; nil for a member of another group
	wrote := -1                           // the last step that wrote a state, or leaps, or is leapt to
	for i := range p.Steps {
		p.pause(i)
		s := &p.Steps[i]
		groups[i] = []int{i}
		if kernels.IsElementwise(s.Op) {
			if k := p.partner(i, groups, readers, maker, wrote); k >= 0 {
				groups[i], groups[k] = append(groups[k], i), nil
			}
		}
		for _, out := range s.Out {
			maker[out.owner] = i
			if out.Where == State {
				wrote = i
			}
		}
		if s.leap != nil || s.mark != nil {
			wrote = i
		}
	}
	steps := make([]Step, 0, len(p.Steps))
	for i, g := range groups {
		p.pause(i)
		if g != nil {
			steps = p.join(steps, g)
		}
	}
	p.Steps = steps
}

// readers returns the step that reads each value, or -1 if several do.
func (p *planner) readers() map[*ops.Value]int {
	readers := make(map[*ops.Value]int, 2*len(p.Steps))
	for i := range p.Steps {
		for _, in := range p.Steps[i].In {
			if k, seen := readers[in.owner]; seen && k != i {
				readers[in.owner] = -1
			} else {
				readers[in.owner] = i
			}
		}
	}
	return readers
}

// partner returns the last step of the group that step i may join, a product's if there is a choice, or -1.
func (p *planner) partner(i int, groups [][]int, readers, maker map[*ops.Value]int, wrote int) int {
	best, product := -1, false
	for _, in := range p.Steps[i].In {
		k, made := maker[in.owner]
		if in.Where != Scratch || !made || readers[in.owner] != i || k < wrote || groups[k] == nil {
			continue
		}
		g := groups[k]
		first, passed := p.Steps[g[0]].Op, i-g[0]-len(g)
		if len(g) == mostJoined || passed > mostPassed || !isProduct(first) && !kernels.IsElementwise(first) ||
			!sameElements(&p.Steps[k].Out[0], &p.Steps[i].Out[0]) {
			continue
		}
		if best < 0 || isProduct(first) || !product && k > best {
			best, product = k, isProduct(first)
		}
	}
	return best
}

// sameElements reports whether two results have as many elements, of one size.
func sameElements(a, b *Place) bool {
	return ops.Volume(a.Shape) == ops.Volume(b.Shape) && element.Size(a.DType) == element.Size(b.DType)
}

// join appends the steps of a group, all with the place of its result.
func (p *planner) join(steps []Step, members []int) []Step {
	last := p.Steps[members[len(members)-1]].Out
	var before *ops.Value // what the member before makes
	for n, i := range members {
		s := p.Steps[i]
		move := func(list []Place, from *ops.Value) []Place {
			list = slices.Clone(list)
			for k := range list {
				if at := &list[k]; at.owner == from {
					at.Where, at.Index, at.owner = last[0].Where, last[0].Index, last[0].owner
				}
			}
			return list
		}
		if n > 0 {
			s.In, s.Joined = move(s.In, before), true
		}
		if len(members) > 1 {
			before = s.Out[0].owner
			s.Out = move(s.Out, before)
		}
		steps = append(steps, s)
	}
	return steps
}

// isProduct reports whether an operator is a product that a group may begin with.
func isProduct(op string) bool { return op == "matmul" || op == "linear" || op == "conv" }
