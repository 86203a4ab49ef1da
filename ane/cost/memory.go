package cost

import (
	"slices"

	"github.com/anekit/anekit/ane/chip"
)

const (
	leastSurface = 49152
	page         = 16 << 10
)

// memory adds up surfaces and weights.
func (r *program) memory() (m Memory) {
	for _, v := range distinct(slices.Concat(r.inputs, r.Outputs)) {
		n := (max(int64(v.Surface()), leastSurface) + page - 1) / page * page
		m.Surfaces, m.Largest = min(m.Surfaces+n, 1<<60), max(m.Largest, n)
	}
	weights := map[string]bool{}
	for _, l := range r.layers {
		for _, v := range l.Arguments() {
			// Settings are part of the text, and small constants of the operator.
			if w := r.weight(v); w != nil && w.stored > 64 && !weights[w.key] {
				weights[w.key] = true
				m.Weights = min(m.Weights+w.stored, 1<<60)
			}
		}
		for _, v := range l.Out {
			if !v.Returned {
				m.Intermediate = max(m.Intermediate, int64(bytes(v)))
			}
		}
	}
	return m
}

// budgets holds the program against what a process and a chip hold.
func budgets(r *program, m Memory, c chip.Chip) []Budget {
	spec := c.Spec()
	loaded := chip.Fact[int64]{Value: int64(spec.Loaded.Value), Degree: spec.Loaded.Degree, Source: spec.Loaded.Source}
	return []Budget{
		{"loaded programs of the machine", 1, loaded},
		{"bytes of weights", m.Weights, spec.WeightBytes},
		{"bytes of one surface", m.Largest, spec.SurfaceBytes},
		{"bytes of an operand on the chip", m.Intermediate, spec.OperandBytes},
		{"bytes of streamed weights", m.Weights, spec.StreamBytes},
	}
}
