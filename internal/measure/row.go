package measure

import (
	"fmt"
	"slices"
	"strings"
)

// Row is what Measure has found. Times have fractions: an operation takes a few nanoseconds.
type Row struct {
	Name       string  `json:"name"`
	Operation  string  `json:"operation"`
	Target     string  `json:"target"`
	Published  string  `json:"published,omitempty"`
	Measured   float64 `json:"measured_ns"` // the best round
	Floor      float64 `json:"floor_ns"`
	Ratio      float64 `json:"ratio"`        // of the two
	Spread     float64 `json:"ratio_spread"` // of the rounds
	Allocs     int64   `json:"allocs_per_op"`
	Bytes      int64   `json:"bytes_per_op,omitempty"`
	Throughput int64   `json:"bytes_per_s,omitempty"`
	Missed     string  `json:"missed,omitempty"` // the worst verdict of its targets

	P99     float64  `json:"-"` // of all operations of all rounds, of a case with Each
	Targets []Target `json:"-"`
}

// fill compares the rounds with the targets.
func (r *Row) fill(c *Case, values, floors, ratios []float64) {
	r.Name, r.Operation, r.Target, r.Published, r.Bytes = c.Name, c.What, "none", c.Published, c.Bytes
	r.Measured, r.Floor, r.Spread = slices.Min(values), slices.Min(floors), spread(ratios)
	if r.Ratio = r.Measured / r.Floor; c.Bytes > 0 {
		r.Throughput = int64(1e9 * float64(c.Bytes) / r.Measured)
	}
	var limits []string
	var byRatio *Target
	if c.MaxRatio > 0 {
		byRatio = &Target{Name: c.Name + "/ratio", What: c.What, Unit: "x", Value: r.Ratio, Rounds: ratios,
			Most: c.MaxRatio}
		r.Targets = append(r.Targets, *byRatio)
		limits = append(limits, fmt.Sprintf("<= %gx", c.MaxRatio))
	}
	if c.MaxNs > 0 {
		t := Target{Name: c.Name + "/time", What: c.What, Unit: "ns", Value: r.Measured, Rounds: values, Most: c.MaxNs,
			Ratio: byRatio}
		if r.Floor >= c.MaxNs {
			t.Unreachable = "the floor alone takes " + TimeText(r.Floor)
		}
		r.Targets = append(r.Targets, t)
		limits = append(limits, "< "+strings.Replace(TimeText(c.MaxNs), ".0", "", 1))
	}
	for _, t := range r.Targets {
		r.Target, r.Missed = strings.Join(limits, ", "), worse(r.Missed, t.Verdict())
	}
}

// TimeText formats a time in nanoseconds.
func TimeText(ns float64) string {
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%.1f ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.1f us", ns/1e3)
	}
	return fmt.Sprintf("%.1f ms", ns/1e6)
}

// BytesText formats a size in bytes.
func BytesText(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%d MB", n>>20)
}

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
