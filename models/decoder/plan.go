package decoder

import (
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
