package ane

import "time"

// Result describes one run.
type Result struct {
	Receipt *Receipt      // shared by all results of a Model; do not change
	Elapsed time.Duration // from the call to the engine until its return
	QoS     QoS           // that of Request.SetQoS, or 0
}

// Receipt describes the engine that ran the program. The software engine never reports
// the name apple, and Fallback gives the reason for an engine that is not the best.
type Receipt struct {
	Engine   string   `json:"name"`
	Chip     string   `json:"chip"`
	OSBuild  string   `json:"os_build"`
	Numerics string   `json:"numerics"`
	Sharing  string   `json:"sharing"`
	Cached   bool     `json:"cached"`
	Fallback string   `json:"fallback,omitempty"` // why this is not the first choice
	Notes    []string `json:"notes,omitempty"`    // remarks of the program and of the compiler that are not faults
	// Residency is that of the loaded program, as Source.Residency asked for.
	Residency Residency `json:"residency,omitempty"`
}

// Residency says whether the memory of a loaded program stays in memory. It belongs to a program, not to an engine. A
// large bank of weights has to be pageable to load at all; a program that runs all the time beside it should be wired.
type Residency string

const (
	// DefaultResidency leaves the choice to the engine.
	DefaultResidency Residency = ""
	// Wired memory is never paged out.
	Wired Residency = "wired"
	// Pageable memory may be paged out: on an M5 Max, programs of 51 GB load so.
	Pageable Residency = "pageable"
)

// residency adds to a receipt what became of a Source's Residency.
func (r *Receipt) residency(asked Residency, x Executable) {
	if of, ok := x.(interface{ Residency() Residency }); ok {
		r.Residency = of.Residency()
	} else if asked != DefaultResidency {
		r.Notes = append(r.Notes, "the engine does not offer "+string(asked)+" memory for programs")
	}
}
