package ane

import "fmt"

// Residency says whether the memory of a loaded program stays in memory. It is a program's and not an engine's: a large
// bank of weights has to be pageable to load at all, while a program that runs all the time beside it had better not be.
type Residency int

const (
	// DefaultResidency leaves the choice to the engine.
	DefaultResidency Residency = iota
	// Wired memory is never paged out.
	Wired
	// Pageable memory may be paged out: on an M5 Max, programs of 51 GB load so.
	Pageable
)

var residencies = [...]string{DefaultResidency: "", Wired: "wired", Pageable: "pageable"}

// String returns "wired", "pageable", or "" for the default.
func (r Residency) String() string {
	if !r.valid() {
		return fmt.Sprintf("residency %d", int(r))
	}
	return residencies[r]
}

func (r Residency) valid() bool { return r >= 0 && int(r) < len(residencies) }

// MarshalText encodes the residency as its String, for JSON. The error is nil.
func (r Residency) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText parses the output of MarshalText. Any other text is an error.
func (r *Residency) UnmarshalText(text []byte) error {
	for known, name := range residencies {
		if name == string(text) {
			*r = Residency(known)
			return nil
		}
	}
	return fmt.Errorf("ane: unknown residency %q", text)
}

// resident is an Executable whose engine follows Source.Residency.
type resident interface{ Residency() Residency }

// residency adds to a receipt what became of a Source's Residency.
func (r *Receipt) residency(asked Residency, x Executable) {
	if of, ok := x.(resident); ok {
		r.Residency = of.Residency()
	} else if asked != DefaultResidency {
		r.Notes = append(r.Notes, "the engine does not offer "+asked.String()+" memory for programs")
	}
}
