package decoder

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane/chip"
)

// Plan is the needs of a model, beside the limits of a chip.
type Plan struct {
	Form     Form
	Chip     chip.Chip // whose limits apply; 0: the lowest of all chips
	Context  int       // tokens that a session has room for
	Chunk    int       // tokens of a pass over a prompt
	Programs []ProgramPlan

	Compiles int // programs compiled
	Loads    int // programs loaded, instances included
	// Turns is the number of further programs. Each is loaded for each of its runs, one at a time, since no more can be
	// loaded at once.
	Turns int

	WeightsMapped    int64 // bytes of weights as stored that programs read in the mapped files
	WeightsRead      int64 // the same in memory that OpenAs has read the files to
	WeightsConverted int64 // bytes of weights that were converted or copied for the engine
	CacheBytes       int64 // keys and values of one session
	ScratchBytes     int64 // surfaces of one session beside its cache

	Budgets []Budget

	total int64            // programs
	most  chip.Fact[int64] // programs loaded at once
}

// count counts an instance of a program, and reports whether it shares a place.
func (p *Plan) count(program int) (shares bool) {
	p.Programs[program].Instances++
	if p.most.Known() && p.total > p.most.Value && int64(p.Loads+1) >= p.most.Value {
		p.Turns++
		return true
	}
	p.Loads++
	return false
}

// ProgramPlan is one compiled program.
type ProgramPlan struct {
	Name        string `json:"name"`         // such as "step.layers", "chunk.attention" or "head"
	Layers      int    `json:"layers"`       // whole layers in it
	Instances   int    `json:"instances"`    // loaded programs of it, with weights of their own
	WeightBytes int64  `json:"weight_bytes"` // of one instance, as the program has them
	Operations  int    `json:"operations"`
}

// Budget is a limit and how much of it the model uses.
type Budget struct {
	Name  string
	Used  int64
	Limit chip.Fact[int64] // unknown for what nothing limits
}

// MarshalJSON writes name, used and limit, which is null if it is unknown. The error is nil.
func (b Budget) MarshalJSON() ([]byte, error) {
	var limit *int64
	if b.Limit.Known() {
		limit = &b.Limit.Value
	}
	return json.Marshal(struct {
		Name  string `json:"name"`
		Used  int64  `json:"used"`
		Limit *int64 `json:"limit"`
	}{b.Name, b.Used, limit})
}

// Over reports whether the model exceeds the limit.
func (b Budget) Over() bool { return b.Limit.Known() && b.Used > b.Limit.Value }

// predict returns the budgets of a model that is cut into programs, before anything is compiled.
func (m *Model) predict(cut grouping) Plan {
	o, c := m.o, m.config
	p := Plan{Form: o.form, Chip: o.chip, Context: o.tokens, Chunk: o.chunk}
	side := int64(c.KVHeads/cut.caches) * int64(o.context) * int64(rowBytes(2*c.HeadDim))
	p.CacheBytes = 2 * int64(c.Layers*cut.caches) * side
	if o.form == Compact {
		return p
	}
	weights := o.matrixBytes(cut.rows, c.Hidden) + 2*int64(c.Hidden)
	for _, piece := range cut.pieces {
		weights = max(weights, o.pieceBytes(c, cut, piece.stage)*int64(piece.layers))
	}
	sets := len(m.layersOf)
	p.total, p.most = int64(sets*len(cut.pieces)+cut.parts), o.loadLimit()
	loaded := p.total
	if p.most.Known() {
		loaded = min(loaded, p.most.Value)
	}
	p.Budgets = []Budget{
		{"programs", p.total, chip.Fact[int64]{}},
		{"loaded programs of the machine", loaded, p.most},
		{"bytes of weights in a program", weights, o.weightLimit()},
		{"bytes of a surface", side, o.lowest(func(l chip.Limits) chip.Fact[int64] { return l.SurfaceBytes })},
		{"tokens of an axis", int64(o.context), o.lowest(func(l chip.Limits) chip.Fact[int64] { return wide(l.Axis) })},
	}
	return p
}

// rowBytes is the length of a row of n bytes with its padding.
func rowBytes(n int) int { return (n + 63) / 64 * 64 }

// check refuses a plan that exceeds a budget, with all numbers.
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
	return newError("load", ErrLimits, strings.Join(over, "; "),
		"use the form compact on a software engine, or a smaller model")
}
