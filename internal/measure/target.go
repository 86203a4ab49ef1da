package measure

import (
	"fmt"
	"slices"
)

// Target is a figure with the value that it should not exceed.
type Target struct {
	Name, What, Unit string
	Value            float64
	Rounds           []float64 // the value of each
	Most             float64
	Unreachable      string  // why no code can meet the target here; empty if it can
	Ratio            *Target // of a time: the ratio to the floor of the same rounds; nil if that has no target
}

// spread is the distance between the lowest and the highest round.
func spread(rounds []float64) float64 { return slices.Max(rounds) - slices.Min(rounds) }

// Verdicts of a target, from good to bad.
const (
	Met          = ""
	WithinNoise  = "within noise"
	RatioMet     = "ratio is met"
	FloorExceeds = "floor is beyond it"
	Missed       = "missed"
)

// Verdict compares the figure with the target. A figure misses it that exceeds it by more than the spread of the
// rounds; a time only if its ratio does too, since a loaded machine slows both.
func (t Target) Verdict() string {
	switch excess := t.Value - t.Most; {
	case excess <= 0:
		return Met
	case t.Unreachable != "":
		return FloorExceeds
	case excess <= spread(t.Rounds):
		return WithinNoise
	case t.Ratio != nil && t.Ratio.Verdict() != Missed:
		return RatioMet
	}
	return Missed
}

// worse is the worse of two verdicts.
func worse(a, b string) string {
	for _, v := range []string{Missed, FloorExceeds, RatioMet, WithinNoise} {
		if a == v || b == v {
			return v
		}
	}
	return Met
}

// Detail tells the measured value, the spread, the target, and why the figure may exceed it.
func (t Target) Detail() string {
	s := fmt.Sprintf("%s: %s, spread of %d rounds %s, target %s", t.What, t.text(t.Value), len(t.Rounds),
		t.text(spread(t.Rounds)), t.text(t.Most))
	switch t.Verdict() {
	case FloorExceeds:
		s += "; " + t.Unreachable
	case WithinNoise:
		s += "; exceeds it by less than the spread"
	case RatioMet:
		s += fmt.Sprintf("; the ratio to the floor of the same rounds, %s, meets its target %s",
			t.Ratio.text(t.Ratio.Value), t.Ratio.text(t.Ratio.Most))
	case Missed:
		s += "; missed, as it may be on a busy machine"
	}
	return s
}

// text formats a value with the unit of the target.
func (t Target) text(v float64) string {
	if t.Unit == "ns" {
		return TimeText(v)
	}
	return fmt.Sprintf("%.2f%s", v, t.Unit)
}
