package cost

import (
	"github.com/anekit/anekit/ane/chip"
)

const (
	leastSurface = 49152
	page         = 16 << 10
)

// memory adds up surfaces and weights.
func (r *program) memory() (m Memory) {
	seen := map[*tensor]bool{}
	add := func(t *tensor) {
		if seen[t] {
			return
		}
		seen[t] = true
		n := (max(t.surface(), leastSurface) + page - 1) / page * page
		m.Surfaces = min(m.Surfaces+n, 1<<60)
		m.Largest = max(m.Largest, n)
	}
	for _, t := range r.inputs {
		add(t)
	}
	for _, t := range r.outputs {
		add(t)
	}
	weights := map[string]bool{}
	for _, s := range r.steps {
		for _, list := range s.args {
			for _, t := range list {
				// Settings are part of the text, and small constants of the operator.
				if t.known && t.stored > 64 && !weights[t.key] {
					weights[t.key] = true
					m.Weights = min(m.Weights+t.stored, 1<<60)
				}
			}
		}
		for _, t := range s.out {
			if !t.returned {
				m.Intermediate = max(m.Intermediate, int64(t.bytes()))
			}
		}
	}
	return m
}

// budgets holds the program against what a process and a chip hold.
func budgets(r *program, m Memory, c chip.Chip) []Budget {
	spec := c.Spec()
	whole := func(f chip.Fact[int]) chip.Fact[int64] {
		return chip.Fact[int64]{Value: int64(f.Value), Degree: f.Degree, Source: f.Source}
	}
	return []Budget{
		{"loaded programs of the machine", 1, whole(spec.Loaded)},
		{"bytes of weights", m.Weights, spec.WeightBytes},
		{"bytes of one surface", m.Largest, spec.SurfaceBytes},
		{"bytes of an operand on the chip", m.Intermediate, spec.OperandBytes},
		{"bytes of streamed weights", m.Weights, spec.StreamBytes},
	}
}
