package cost

import (
	"fmt"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
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

// Figure is a number with its evidence: microseconds, or bytes, as the field says.
type Figure = chip.Fact[float64]

// Bound says what an operator, or a whole call, waits for.
type Bound uint8

// The bounds.
const (
	Nothing     Bound = iota // takes no time of its own
	MAC                      // the multipliers
	Weights                  // reading weights from memory
	Activations              // moving inputs and outputs between memory and engine
	PE                       // the elementwise unit
	Dispatch                 // the call itself: submission and completion
)

// String returns the word for tables: "mac", "weights", "activations", "pe", "dispatch", or "-".
func (b Bound) String() string {
	switch b {
	case Nothing:
		return "-"
	case MAC:
		return "mac"
	case Weights:
		return "weights"
	case Activations:
		return "activations"
	case PE:
		return "pe"
	case Dispatch:
		return "dispatch"
	}
	return fmt.Sprintf("Bound(%d)", uint8(b))
}

// Op is the estimate of one operator. Constants and what is computed from them alone have none.
type Op struct {
	Name     string  // of the first result
	Kind     string  // "conv"
	Pos      mil.Pos // unknown for a program made in Go
	Time     Figure  // microseconds; 0 for an operator that is a part of another
	Bound    Bound
	MACs     float64 // products
	Weights  int64   // bytes of weights as stored
	Elements int64   // that the elementwise unit passes
	Tasks    int     // tasks that the compiler makes of it
	Note     string  // what the figure rests on, or which operator it is a part of
}

// Part is a time of the call that belongs to no operator.
type Part struct {
	Name  string
	Time  Figure
	Bound Bound
}

// Memory is what a loaded program takes.
type Memory struct {
	Surfaces     int64 // bytes of the inputs' and outputs' surfaces: padded rows, at least 49152 bytes, pages of 16 KiB
	Largest      int64 // bytes of the largest surface
	Weights      int64 // bytes of distinct weights as stored
	Intermediate int64 // bytes of the largest tensor between operators
}

// Budget is a limit and how much of it the program takes.
type Budget struct {
	Name  string
	Used  int64
	Limit chip.Fact[int64]
}

// Over reports whether the program takes more than the limit.
func (b Budget) Over() bool { return b.Limit.Known() && b.Used > b.Limit.Value }

// Placement is where Core ML would run the program, by the rule of the study: the least sum of estimates, of 125
// microseconds for each segment on the engine, for each change between engine and CPU, and for outputs on the engine.
type Placement struct {
	Engine   Figure // microseconds with every operator on the engine that it takes
	CPU      Figure // microseconds with every operator on the CPU
	Chosen   Figure // microseconds of the cheapest placement
	OnEngine int    // operators that it runs on the engine
	OnCPU    int
	Segments int // on the engine
}

// Estimate is what a function costs.
type Estimate struct {
	Chip     chip.Chip
	Function string
	Engines  int  // that the estimate is for
	Split    bool // the compiler cuts the program into tiles for two engines
	Why      string
	Ops      []Op   // in the order of the program
	Parts    []Part // of the call
	Task     Figure // microseconds of the engine's work: Ops and the parts of the task
	Call     Figure // microseconds of a call, from submission to completion
	Clock    Figure // MHz that Task is for; unknown for chips without figures
	Error    Figure // how far Call may be off, as a fraction
	Bound    Bound  // what takes the largest share of Call
	Tasks    int
	Memory   Memory
	Budgets  []Budget
	Place    Placement
	// CPU reports whether the CPU would be quicker than a call in memory: Place.CPU is less than Call.
	CPU   bool
	Notes []string
}

// Error is a program or Options that cannot be estimated.
type Error struct {
	What string
	Hint string  // how to fix it
	Pos  mil.Pos // of the value that it is about; zero if it is about none
}

func (e *Error) Error() string { return e.What + "; " + e.Hint }

// Of estimates a function of a program. Declared types are believed; the program should validate. The error is an
// *Error for Options, for a program without the function, and for one with an axis of no fixed length.
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
	f := p.Select(o.Function)
	if f == nil {
		return nil, &Error{What: fmt.Sprintf("no function called %q", o.Function),
			Hint: "name a function of the program"}
	}
	if err := fixed(f); err != nil {
		return nil, err
	}
	r := read(f)
	e := &Estimate{Chip: o.Chip, Function: f.Name, Engines: o.Engines}
	w := newWork(r, o)
	w.estimate(e)
	e.Memory = r.memory()
	e.Budgets = budgets(r, e.Memory, o.Chip)
	e.Place = place(p, r, o.Chip)
	e.CPU = e.Place.CPU.Value < e.Call.Value && len(e.Ops) > 0
	return e, nil
}

// fixed returns the error of the first value with an axis of no fixed length: nothing tells its cost.
func fixed(f *mil.Function) error {
	check := func(v mil.Var) error {
		t := v.Type
		if t.Kind == mil.State && len(t.Elems) == 1 {
			t = t.Elems[0]
		}
		if _, ok := t.Shape(); ok || t.Kind != mil.Tensor {
			return nil
		}
		return &Error{What: fmt.Sprintf("%s has an axis without a length: %s", v.Name, v.Type),
			Hint: "write the length of every axis; only the CPU runs other programs", Pos: v.Pos}
	}
	for _, v := range f.Params {
		if err := check(v); err != nil {
			return err
		}
	}
	for _, op := range f.Body {
		for _, v := range op.Results {
			if err := check(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxWait is the longest gap, in microseconds.
const maxWait = 1e12
