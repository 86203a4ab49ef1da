package main

import (
	"fmt"
	"math"
	"time"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/membench"
	"github.com/anekit/anekit/internal/weightbench"
)

// benchDetails are the fields that bench adds to the report.
type benchDetails struct {
	Floors     string        `json:"floors"` // how this system measures the floors of Blocks
	Operations []operation   `json:"operations"`
	Sizes      []blockSize   `json:"sizes"`
	Evaluate   *evaluated    `json:"evaluate,omitempty"`
	Cache      *cacheMemory  `json:"cache,omitempty"`
	Skipped    []skippedStep `json:"skipped,omitempty"`

	Language *benchGenerateDetails `json:"language,omitempty"`
}

// cacheMemory is the memory of a cache of keys and values that grows, and of one that is reserved.
type cacheMemory struct {
	Modes     []weightbench.Kept `json:"modes"`
	Published publishedFigures   `json:"published"`
}

// skippedStep is a step that could not run.
type skippedStep struct {
	Step   string `json:"step"`
	Reason string `json:"reason"`
}

// operation is the best round of an operation of package unimem. The times have fractions, since an
// operation takes a few nanoseconds.
type operation struct {
	Name       string  `json:"name"`
	Operation  string  `json:"operation"`
	Target     string  `json:"target"`
	Published  string  `json:"published,omitempty"`
	Measured   float64 `json:"measured_ns"`
	Floor      float64 `json:"floor_ns"`
	Ratio      float64 `json:"ratio"`
	Spread     float64 `json:"ratio_spread"` // of the rounds
	Allocs     int64   `json:"allocs_per_op"`
	Bytes      int64   `json:"bytes_per_op,omitempty"`
	Throughput int64   `json:"bytes_per_s,omitempty"`
	Missed     string  `json:"missed,omitempty"` // verdict of a target that it exceeds
}

// blockSize holds the figures of a Block of one size.
type blockSize struct {
	Bytes      int        `json:"bytes"`
	Published  string     `json:"published,omitempty"`
	Open       duration   `json:"open"`
	FirstTouch duration   `json:"first_touch"` // of 16 KiB
	Drop       duration   `json:"drop"`
	Write      throughput `json:"write"`
	Read       throughput `json:"read"`
}

// duration is a time with its floor.
type duration struct {
	Measured int64   `json:"measured_ns"`
	Floor    int64   `json:"floor_ns"`
	Ratio    float64 `json:"ratio"`
}

// throughput is a rate with its floor; ratio is floor divided by rate.
type throughput struct {
	Measured int64   `json:"bytes_per_s"`
	Floor    int64   `json:"floor_bytes_per_s"`
	Ratio    float64 `json:"ratio"`
}

func sizeOf(s membench.Size) blockSize {
	took := func(f membench.Figure) duration {
		return duration{int64(math.Round(f.Value)), int64(math.Round(f.Floor)), f.Ratio}
	}
	rate := func(f membench.Figure) throughput {
		return throughput{int64(f.Value * 1e9), int64(f.Floor * 1e9), f.Ratio}
	}
	return blockSize{s.Bytes, s.Published, took(s.Open), took(s.FirstTouch), took(s.Drop), rate(s.Write), rate(s.Read)}
}

func (d duration) String() string {
	return fmt.Sprintf("%s (%s, %.2fx)", membench.TimeText(float64(d.Measured)), membench.TimeText(float64(d.Floor)),
		d.Ratio)
}

func (t throughput) String() string {
	return fmt.Sprintf("%.1f GB/s (%.1f, %.2fx)", float64(t.Measured)/1e9, float64(t.Floor)/1e9, t.Ratio)
}

// evaluated holds evaluations with their floor, the time in which two processes wake each other.
type evaluated struct {
	Engine  string        `json:"engine"`
	Floor   time.Duration `json:"floor_p50_ns"`
	Trips   []trip        `json:"trips"`
	Largest float64       `json:"largest_to_smallest"` // p50 of the largest tensor to that of the smallest
}

// trip holds the times of a program that reads one row of its input.
type trip struct {
	Bytes  int           `json:"tensor_bytes"`
	P50    time.Duration `json:"p50_ns"`
	P99    time.Duration `json:"p99_ns"`
	Ratio  float64       `json:"ratio"`
	Spread float64       `json:"ratio_spread"` // of the rounds
	Target string        `json:"target"`
	Allocs float64       `json:"allocs_per_op"`
	Missed string        `json:"missed,omitempty"`
}

// print prints the tables of bench.
func (b *benchRun) print(a *app, r report, passed bool) error {
	w := page.NewTable("Operation", "Published", "Target", "Measured", "Floor", "Ratio", "Spread", "Allocs", "")
	for _, o := range b.found.Operations {
		value := membench.TimeText(o.Measured)
		if o.Throughput > 0 {
			value += fmt.Sprintf(" (%.1f GB/s)", float64(o.Throughput)/1e9)
		}
		w.Row(o.Operation, o.Published, o.Target, value, membench.TimeText(o.Floor), fmt.Sprintf("%.2fx", o.Ratio),
			fmt.Sprintf("%.2f", o.Spread), fmt.Sprint(o.Allocs), o.Missed)
	}
	if err := a.table(w); err != nil {
		return err
	}
	err := a.printf("\nBelow, each figure is followed by its floor and the ratio. Floors of Blocks: %s;\n"+
		"of Tape and Grid: the bare atomic loop; of the write: the same loop on a Go slice.\n"+
		"Published: for Apple silicon, by the specification of unimem; in parentheses the figure of mimalloc.\n\n",
		b.found.Floors)
	if err != nil {
		return err
	}
	w = page.NewTable("Size", "Published", "Open", "First touch of 16 KiB", "Drop", "Write", "Read")
	for _, s := range b.found.Sizes {
		w.Row(membench.BytesText(s.Bytes), s.Published, s.Open.String(), s.FirstTouch.String(), s.Drop.String(),
			s.Write.String(), s.Read.String())
	}
	if err := a.table(w); err != nil {
		return err
	}
	fmt.Fprintln(a.out)
	if e := b.found.Evaluate; e != nil {
		if err := e.print(a); err != nil {
			return err
		}
	}
	if c := b.found.Cache; c != nil {
		if err := c.print(a); err != nil {
			return err
		}
	}
	if l := b.found.Language; l != nil {
		if err := l.print(a); err != nil {
			return err
		}
		fmt.Fprintln(a.out)
	}
	for _, s := range b.found.Skipped {
		if err := a.printf("%s: skipped: %s\n", s.Step, s.Reason); err != nil {
			return err
		}
	}
	for _, c := range r.Checks {
		if c.Status == trial.Fail {
			if err := a.printf("%s: %s\n", paint(a.out, missedTarget), c.Detail); err != nil {
				return err
			}
		}
	}
	verdict := verdictPass
	if !passed {
		verdict = verdictFail
	}
	return a.printf("verdict: %s\n", paint(a.out, verdict))
}

// print prints the table of evaluations.
func (e *evaluated) print(a *app) error {
	w := page.NewTable("Evaluate on "+e.Engine, "Target", "p50", "p99", "Floor p50", "Ratio", "Spread", "Allocs", "")
	for _, t := range e.Trips {
		w.Row("one row of "+membench.BytesText(t.Bytes), t.Target, membench.TimeText(float64(t.P50)),
			membench.TimeText(float64(t.P99)), membench.TimeText(float64(e.Floor)),
			fmt.Sprintf("%.2fx", t.Ratio), fmt.Sprintf("%.2f", t.Spread), fmt.Sprintf("%.0f", t.Allocs), t.Missed)
	}
	w.Row("largest to smallest", fmt.Sprintf("<= %.1fx", tripSpread), "", "", "", fmt.Sprintf("%.2fx", e.Largest))
	if err := a.table(w); err != nil {
		return err
	}
	return a.printf("p50: of the best round; p99: of all calls. Floor: two processes that wake each other through " +
		"eventfds.\n")
}
