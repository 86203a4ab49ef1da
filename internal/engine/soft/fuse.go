package soft

import (
	"slices"

	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/ops"
)

// A fused group is a step and the operators on each element of its result that follow it: a chain of such operators, or
// a product with its bias and activation. All members write the memory of the group's result. The first computes a
// piece, such as a tile of a product; the others replace that piece while it is in the cache, each with the runner that
// it would have alone, so that fusing changes no bit.

const (
	// mostJoined bounds the steps of a group.
	mostJoined = 16
	// mostPassed bounds the steps that a group moves past, because it keeps its operands until then.
	mostPassed = 16
)

// group is a fused group while a plan is made.
type group struct {
	steps   []int // indexes of its members
	product bool  // the first is one
}

// fuse moves each step whose result only one operator reads, element by element, in front of that operator, and joins
// the two.
func (p *planner) fuse() {
	readers, maker := p.readers(), map[*ops.Value]int{}
	groups := make([]*group, len(p.steps)) // nil for a member of another one's
	wrote := -1                            // the last step that wrote a state
	for i := range p.steps {
		p.pause(i)
		s := &p.steps[i]
		groups[i] = &group{steps: []int{i}, product: isProduct(s.op)}
		if s.elementwise() {
			if k := p.partner(i, groups, readers, maker, wrote); k >= 0 {
				groups[i].steps = append(groups[k].steps, i)
				groups[i].product, groups[k] = groups[k].product, nil
			}
		}
		for _, out := range s.out {
			maker[out.owner] = i
			if out.where == state {
				wrote = i
			}
		}
	}
	steps := make([]step, 0, len(p.steps))
	for i, g := range groups {
		p.pause(i)
		if g != nil {
			steps = p.join(steps, g.steps)
		}
	}
	p.steps = steps
}

// readers returns the step that reads each value, or -1 if several do.
func (p *planner) readers() map[*ops.Value]int {
	readers := map[*ops.Value]int{}
	for i := range p.steps {
		for _, in := range p.steps[i].in {
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
func (p *planner) partner(i int, groups []*group, readers, maker map[*ops.Value]int, wrote int) int {
	best := -1
	for _, in := range p.steps[i].in {
		k, made := maker[in.owner]
		if in.where != scratch || !made || readers[in.owner] != i || k < wrote || groups[k] == nil {
			continue
		}
		g, first := groups[k], &p.steps[groups[k].steps[0]]
		passed := i - g.steps[0] - len(g.steps)
		if len(g.steps) == mostJoined || passed > mostPassed || !g.product && !first.elementwise() ||
			!sameElements(&p.steps[k].out[0], &p.steps[i].out[0]) {
			continue
		}
		if best < 0 || g.product || !groups[best].product && k > best {
			best = k
		}
	}
	return best
}

// sameElements reports whether two results have as many elements, of one size.
func sameElements(a, b *place) bool {
	return ops.Volume(a.shape) == ops.Volume(b.shape) && element.Size(a.dtype) == element.Size(b.dtype)
}

// join appends the steps of a group, all with the place of its result.
func (p *planner) join(steps []step, members []int) []step {
	last := p.steps[members[len(members)-1]].out
	var before *ops.Value // what the member before makes
	for n, i := range members {
		s := p.steps[i]
		move := func(list []place, from *ops.Value) []place {
			list = slices.Clone(list)
			for k := range list {
				if at := &list[k]; at.owner == from {
					at.where, at.index, at.owner = last[0].where, last[0].index, last[0].owner
				}
			}
			return list
		}
		if n > 0 {
			s.in, s.joined = move(s.in, before), true
		}
		if len(members) > 1 {
			before = s.out[0].owner
			s.out = move(s.out, before)
		}
		steps = append(steps, s)
	}
	return steps
}

// isProduct reports whether an operator is a product that a group may begin with.
func isProduct(op string) bool { return op == "matmul" || op == "linear" || op == "conv" }

// elementwise reports whether the runner of a step will be elementwise.
func (s *step) elementwise() bool {
	switch s.op {
	case "cast", "prelu", "softplus_parametric", "select", "abs", "relu", "sqrt", "rsqrt", "gelu":
		return true
	}
	_, binary := intOps[s.op]
	u, _ := s.attrs.(ops.Unary)
	return binary || mathMap(s.op, u) != nil
}
