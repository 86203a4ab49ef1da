package tripbench

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Targets of an evaluation.
const (
	maxRatio  = 2.0 // of its p50 to that of the floor
	maxP50    = 25 * time.Microsecond
	maxSpread = 1.2 // of the p50 of the largest tensor to that of the smallest
	target    = "<= 2x, < 25 us"
)

// Report is the result of Measure.
type Report struct {
	Engine string        `json:"engine"`
	Floor  time.Duration `json:"floor_p50_ns"` // a signal to another process and back, best round
	Trips  []Trip        `json:"trips"`
	Spread float64       `json:"largest_to_smallest"` // P50 of the largest tensor to that of the smallest
}

// Trip is the evaluation of a program that reads one row of its input.
type Trip struct {
	Bytes  int           `json:"tensor_bytes"` // size of the input
	P50    time.Duration `json:"p50_ns"`       // best round
	P99    time.Duration `json:"p99_ns"`       // all calls
	Ratio  float64       `json:"ratio"`        // P50 to the floor
	Target string        `json:"target"`
	Within bool          `json:"within"` // the target is met
	Allocs float64       `json:"allocs_per_op"`
}

// Write prints the report as a table.
func (r Report) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "Evaluate on %s\tTarget\tp50\tp99\tFloor p50\tRatio\tAllocs\t\n", r.Engine)
	for _, p := range r.Trips {
		fmt.Fprintf(t, "one row of %s\t%s\t%v\t%v\t%v\t%.2fx\t%.0f\t%s\n", size(p.Bytes), p.Target, tenth(p.P50),
			tenth(p.P99), tenth(r.Floor), p.Ratio, p.Allocs, missed(p.Within))
	}
	if n := len(r.Trips); n > 1 {
		fmt.Fprintf(t, "%s to %s\t<= %.1fx\t\t\t\t%.2fx\t\t%s\n", size(r.Trips[n-1].Bytes), size(r.Trips[0].Bytes),
			maxSpread, r.Spread, missed(r.Spread <= maxSpread))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "p50: of the best round; p99: of all calls. Floor: two processes that wake each other "+
		"through eventfds.")
	return err
}

// missed marks a row that misses its target.
func missed(within bool) string {
	if within {
		return ""
	}
	return "missed"
}

func tenth(d time.Duration) time.Duration { return d.Round(100 * time.Nanosecond) }

func size(n int) string { return fmt.Sprintf("%d MB", n>>20) }
