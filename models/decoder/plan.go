package decoder

import (
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane/chip"
)

// Plan is what a model takes of an engine, beside the limits of a chip.
type Plan struct {
	Form     Form
	Chip     chip.Chip // whose limits are meant; 0: all, the lowest of each
	Context  int       // tokens that a session has room for
	Chunk    int       // tokens of a pass over a prompt
	Programs []ProgramPlan

	Compiles int // programs compiled
	Loads    int // programs loaded, instances included

	WeightsMapped    int64 // bytes of weights as stored in the mapped files
	WeightsConverted int64 // bytes of weights that were converted or copied for the engine
	CacheBytes       int64 // keys and values of one session
	ScratchBytes     int64 // surfaces of one session beside its cache

	Budgets []Budget
}

// ProgramPlan is one compiled program.
type ProgramPlan struct {
	Name        string // such as "step.layers" or "chunk.head"
	Layers      int    // layers in it
	Instances   int    // loaded programs of it, with weights of their own
	WeightBytes int64  // of one instance, as the program has them
	Operations  int
}

// Budget is a limit and how much of it the model takes.
type Budget struct {
	Name  string
	Used  int64
	Limit chip.Fact[int64] // unknown for what nothing limits
}

// Over reports whether the model takes more than the limit.
func (b Budget) Over() bool { return b.Limit.Known() && b.Used > b.Limit.Value }

// predict returns the budgets of a model that is cut into programs, before anything is compiled.
func (m *Model) predict(cut grouping) Plan {
	o, c := m.o, m.config
	p := Plan{Form: o.form, Chip: o.chip, Context: o.tokens, Chunk: o.chunk}
	side := int64(c.KVHeads) * int64(o.context) * int64(rowBytes(2*c.HeadDim))
	p.CacheBytes = 2 * int64(c.Layers) * side
	if o.form != Engine {
		return p
	}
	groups := map[int]bool{}
	layers, weights := 0, int64(0)
	for _, g := range cut.groups {
		groups[g.layers] = true
		layers = max(layers, g.layers)
	}
	for name, w := range m.folder.weights {
		for i := range layers {
			if strings.HasPrefix(name, layerName(i, "")) {
				weights += w.halves()
			}
		}
	}
	sets := 2
	if o.chunk == engineStep {
		sets = 1
	}
	weights = max(weights, 2*int64(c.Hidden)*int64(cut.rows+1))
	limit := func(of func(chip.Limits) chip.Fact[int64]) chip.Fact[int64] { return o.lowest(of) }
	p.Budgets = []Budget{
		{"compiles of a process", int64(sets*len(groups) + 1),
			limit(func(l chip.Limits) chip.Fact[int64] { return wide(l.Compiles) })},
		{"loaded programs of a process", int64(sets*len(cut.groups) + cut.parts),
			limit(func(l chip.Limits) chip.Fact[int64] { return wide(l.Loaded) })},
		{"bytes of weights in a program", weights, o.weightLimit()},
		{"bytes of a surface", side, limit(func(l chip.Limits) chip.Fact[int64] { return l.SurfaceBytes })},
		{"tokens of an axis", int64(o.context), limit(func(l chip.Limits) chip.Fact[int64] { return wide(l.Axis) })},
	}
	return p
}

// rowBytes is the length of a row of n bytes with its padding.
func rowBytes(n int) int { return (n + 63) / 64 * 64 }

// check refuses a plan that is over a budget, with all numbers.
func (p Plan) check() error {
	var over []string
	for _, b := range p.Budgets {
		if b.Over() {
			over = append(over, fmt.Sprintf("%s: %d, at most %s", b.Name, b.Used, b.Limit))
		}
	}
	if over == nil {
		return nil
	}
	return &Error{Op: "load", Err: ErrLimits, Detail: strings.Join(over, "; "),
		Hint: "use the form compact on a software engine, or a smaller model"}
}
