package ane

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
