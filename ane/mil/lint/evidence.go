package lint

import (
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/chip"
)

// evidence is what one source says of a rule. All fields are written in rules.json, so that no claim is without them.
type evidence struct {
	Source string // the project, with the place in it
	Degree string // M measured, C compiled, D stated, I inferred
	Chips  string // "m1,m4", "any" whatever the chip, "unknown" where the source names none
	Roads  string // the compilers by which it was found: "in-memory,e5", "all" where it holds for the chip or the text
	Says   string // of evidence against a rule: what runs nevertheless
}

// degrees are the words for the letters.
var degrees = map[string]string{"M": "measured", "C": "compiled", "D": "stated", "I": "inferred"}

// String names the source, how it found it, by which compilers and on which chips.
func (e evidence) String() string {
	text := e.Source + ": " + degrees[e.Degree]
	if e.Roads != "all" {
		text += " " + strings.NewReplacer("in-memory", "in memory", "e5", "by e5", "coreml", "through Core ML", ",",
			" and ").Replace(e.Roads)
	}
	switch e.Chips {
	case "any":
		return text
	case "unknown":
		return text + " on a chip that it does not name"
	}
	return text + " on " + strings.ReplaceAll(e.Chips, ",", ", ")
}

// disputed returns what disagrees with the rule for a compiler and a chip, nil if nothing does.
func (r *Rule) disputed(by chip.Compiler, on chip.Chip) *evidence {
	for i, e := range r.against {
		chips := e.Chips == "any" || e.Chips == "unknown" || slices.Contains(strings.Split(e.Chips, ","), on.String())
		if chips && (e.Roads == "all" || slices.Contains(strings.Split(e.Roads, ","), by.String())) {
			return &r.against[i]
		}
	}
	return nil
}
