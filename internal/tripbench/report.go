package tripbench

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Report is what Measure found.
type Report struct {
	Engine string        `json:"engine"`
	Floor  time.Duration `json:"floor_p50_ns"` // of a signal to another process and back
	Trips  []Trip        `json:"trips"`
}

// Trip is the evaluation of a program that reads one row of its input.
type Trip struct {
	Bytes  int           `json:"tensor_bytes"` // of the input
	P50    time.Duration `json:"p50_ns"`
	P99    time.Duration `json:"p99_ns"`
	Ratio  float64       `json:"ratio"` // of P50 to the floor
	Allocs float64       `json:"allocs_per_op"`
}

// Write prints the report as a table.
func (r Report) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "Evaluate on %s\tp50\tp99\tFloor p50\tRatio\tAllocs\n", r.Engine)
	for _, p := range r.Trips {
		fmt.Fprintf(t, "one row of %s\t%v\t%v\t%v\t%.2fx\t%.0f\n", size(p.Bytes), tenth(p.P50), tenth(p.P99), tenth(r.Floor), p.Ratio, p.Allocs)
	}
	if n := len(r.Trips); n > 1 {
		first, last := r.Trips[0], r.Trips[n-1]
		fmt.Fprintf(t, "%s against %s\t%.2fx\n", size(last.Bytes), size(first.Bytes), float64(last.P50)/float64(first.P50))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "Floor: two processes that wake each other through eventfds.")
	return err
}

func tenth(d time.Duration) time.Duration { return d.Round(100 * time.Nanosecond) }

func size(n int) string { return fmt.Sprintf("%d MB", n>>20) }
