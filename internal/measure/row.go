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
