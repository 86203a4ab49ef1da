package cost

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// Options say what is estimated. The zero Options estimate a call of the main function on M6: one engine at full
// clock, the caller waiting for the completion.
type Options struct {
	Chip     chip.Chip // 0: M6
	Function string    // "": main, or the first function
	Engines  int       // engines that a program may be split over, 1 or 2; 0: 1
	// Gap is how many microseconds the caller spends between two calls, beside dispatch and completion. The clock
	// of the engine falls with it. 0: full clock. Only M6 has figures.
	Gap float64
	// Idle is how many microseconds the engine has been idle before the call; 0: it is warm.
	Idle float64
	// InFlight is how many requests are submitted at once; from 2 the completion overlaps the next request. 0: 1.
	InFlight int
}

// Figure is a number with its evidence.
type Figure = chip.Fact[float64]

// Time is a time in microseconds, with its evidence.
type Time struct{ Figure }

// MarshalJSON returns the time in nanoseconds, with its evidence. The error is that of json.Marshal for a time that is
// no number.
func (t Time) MarshalJSON() ([]byte, error) {
	t.Value *= 1e3
	return json.Marshal(t.Figure)
}

// Bound says what an operator, or a whole call, waits for. It is the word for tables and JSON.
type Bound string

// The bounds.
const (
	Nothing     Bound = "-"           // takes no time of its own
	MAC         Bound = "mac"         // the multipliers
	Weights     Bound = "weights"     // reading weights from memory
	Activations Bound = "activations" // moving inputs and outputs between memory and engine
	PE          Bound = "pe"          // the elementwise unit
	Dispatch    Bound = "dispatch"    // the call itself: submission and completion
)

// Op is the estimate of one operator. Constants and what is computed from them alone have none.
type Op struct {
	Name     string  `json:"name"`     // of the first result
	Kind     string  `json:"operator"` // "conv"
	mil.Pos          // unknown for a program made in Go
	Time     Time    `json:"time_ns"` // 0 for an operator that is a part of another
	Bound    Bound   `json:"bound"`
	MACs     float64 `json:"macs"`           // products
	Weights  int64   `json:"weight_bytes"`   // as stored
	Elements int64   `json:"elements"`       // that the elementwise unit passes
	Tasks    int     `json:"tasks"`          // tasks that the compiler makes of it
	Note     string  `json:"note,omitempty"` // what the figure rests on, or which operator it is a part of
}

// String returns the name, the kind, the time and the bound: "y mul: 4.6 us (inferred), bound by pe".
func (o Op) String() string {
	return fmt.Sprintf("%s %s: %.1f us (%v), bound by %v", o.Name, o.Kind, o.Time.Value, o.Time.Degree, o.Bound)
}

// Part is a time of the call that belongs to no operator.
type Part struct {
	Name  string `json:"name"`
	Time  Time   `json:"time_ns"`
	Bound Bound  `json:"bound"`
}

// Memory is what a loaded program takes.
type Memory struct {
	// Surfaces is the bytes of the inputs' and outputs' surfaces: padded rows, at least 49152 bytes, pages of 16 KiB.
	Surfaces     int64 `json:"surface_bytes"`
	Largest      int64 `json:"largest_surface_bytes"`      // bytes of the largest surface
	Weights      int64 `json:"weight_bytes"`               // bytes of distinct weights as stored
	Intermediate int64 `json:"largest_intermediate_bytes"` // bytes of the largest tensor between operators
}

// Budget is a limit and how much of it the program takes.
type Budget struct {
	Name  string
	Used  int64
	Limit chip.Fact[int64]
}

// Over reports whether the program takes more than the limit.
func (b Budget) Over() bool { return b.Limit.Known() && b.Used > b.Limit.Value }

// Placement is where Core ML would run the program by the rule of the study, which takes the least sum. It adds the
// estimates, and 125 microseconds for each segment on the engine, each change between engine and CPU, and outputs on
// the engine.
type Placement struct {
	Engine   Time `json:"engine_ns"`           // with every operator on the engine that it takes
	CPU      Time `json:"cpu_ns"`              // with every operator on the CPU
	Chosen   Time `json:"chosen_ns"`           // of the cheapest placement
	OnEngine int  `json:"operators_on_engine"` // that it runs there
	OnCPU    int  `json:"operators_on_cpu"`
	Segments int  `json:"segments"` // on the engine
}

// Estimate is what a function costs.
type Estimate struct {
	Chip     chip.Chip `json:"chip"`
	Function string    `json:"function"`
	Engines  int       `json:"engines"` // that the estimate is for
	Split    bool      `json:"split"`   // the compiler cuts the program into tiles for two engines
	Why      string    `json:"why,omitempty"`
	Ops      []Op      `json:"operators"` // in the order of the program
	Parts    []Part    `json:"parts"`     // of the call
	Task     Time      `json:"task_ns"`   // of the engine's work: Ops and the parts of the task
	Call     Time      `json:"call_ns"`   // of a call, from submission to completion
	Clock    Figure    `json:"clock_mhz"` // that Task is for; unknown for chips without figures
	Error    Figure    `json:"error"`     // how far Call may be off, as a fraction
	Bound    Bound     `json:"bound"`     // what takes the largest share of Call
	Tasks    int       `json:"tasks"`
	Memory
	Budgets []Budget  `json:"budgets"`
	Place   Placement `json:"coreml"`
	// CPU reports whether the CPU would be quicker than a call in memory: Place.CPU is less than Call.
	CPU   bool     `json:"cpu_quicker"`
	Notes []string `json:"notes,omitempty"`
}

// Error is a program or Options that cannot be estimated.
type Error struct {
	What string
	Hint string  // how to fix it
	Pos  mil.Pos // of the value that it is about; zero if it is about none
}

func (e *Error) Error() string { return e.What + "; " + e.Hint }

// Of estimates a function of a program. Declared types are believed. The error is an *Error for Options and for a
// program that [mil.Validate] refuses for more than names. It is one too for a missing function and an axis of no fixed
// length.
func Of(p *mil.Program, o Options) (*Estimate, error) {
	if o.Chip == 0 {
		o.Chip = chip.M6
	}
	o.Engines, o.InFlight = max(o.Engines, 1), max(o.InFlight, 1)
	switch spec := o.Chip.Spec(); {
	case !o.Chip.Valid():
		return nil, &Error{What: o.Chip.String() + " is no chip", Hint: "choose one of package chip"}
	case o.Engines > spec.Engines.Value:
		return nil, &Error{What: fmt.Sprintf("%d engines: %s has %d", o.Engines, o.Chip, spec.Engines.Value),
			Hint: "M6 alone has two"}
	case !(o.Gap >= 0 && o.Idle >= 0) || o.Gap > maxWait || o.Idle > maxWait:
		return nil, &Error{What: fmt.Sprintf("a gap of %g us and idle for %g us", o.Gap, o.Idle),
			Hint: "give 0 to 1e12 microseconds"}
	case p == nil:
		return nil, &Error{What: "no program", Hint: "parse one"}
	}
	if list := (mil.ErrorList)(nil); errors.As(mil.Validate("", p), &list) && !mil.OnlyNames(list) {
		return nil, &Error{What: list[0].Msg, Hint: cmp.Or(list[0].Hint, "mend the program"), Pos: list[0].Pos}
	}
	f := p.Select(o.Function)
	switch {
	case f == nil && len(p.Funcs) == 0:
		return nil, &Error{What: "the program has no function", Hint: "write func main<ios18>(..) {..} in it"}
	case f == nil:
		return nil, &Error{What: fmt.Sprintf("no function called %q", o.Function),
			Hint: "name a function of the program"}
	}
	if open := ops.Open(f); len(open) > 0 { // nothing tells its cost
		return nil, &Error{What: fmt.Sprintf("%s has an axis without a length: %s", open[0].Name, open[0].Type),
			Hint: "write the length of every axis; only the CPU runs other programs", Pos: open[0].Pos}
	}
	r := read(p, f)
	e := &Estimate{Chip: o.Chip, Function: f.Name, Engines: o.Engines, Ops: []Op{}, Bound: Nothing}
	w := &work{program: r, Options: o, read: map[string]bool{}, engines: 1}
	w.estimate(e)
	e.Memory = r.memory()
	e.Budgets = budgets(r, e.Memory, o.Chip)
	e.Place = r.place(o.Chip)
	e.CPU = e.Place.CPU.Value < e.Call.Value && len(e.Ops) > 0
	return e, nil
}

// maxWait is the longest gap, in microseconds.
const maxWait = 1e12
