package membench

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Report has all measurements.
type Report struct {
	Floors     string      `json:"floors"` // description of the floors of Blocks on this system
	Operations []Operation `json:"operations"`
	Sizes      []Size      `json:"sizes"`
}

// Operation is a Case with its figures, the best of several rounds.
type Operation struct {
	Name        string  `json:"name"`
	Operation   string  `json:"operation"`
	Target      string  `json:"target"`
	Published   string  `json:"published,omitempty"`
	Within      bool    `json:"within"`              // the figures meet both limits of the target
	FloorBeyond bool    `json:"floor_beyond_target"` // the floor misses the target too: this machine cannot meet it
	Skipped     string  `json:"skipped,omitempty"`
	Measured    Figure  `json:"measured"`
	Allocs      int64   `json:"allocs_per_op"`
	Bytes       int64   `json:"bytes_per_op,omitempty"`
	GBPerSec    float64 `json:"gb_per_s,omitempty"`
}

// Figure is a value with its floor.
type Figure struct {
	Value float64 `json:"value"`
	Floor float64 `json:"floor"`
	Ratio float64 `json:"ratio"` // how many times worse than the floor; below 1 is better
	Unit  string  `json:"unit"`  // "ns" or "GB/s"
}

// Size has the best figures of a Block of one size.
type Size struct {
	Bytes      int    `json:"bytes"`
	Published  string `json:"published,omitempty"`
	Open       Figure `json:"open"`
	FirstTouch Figure `json:"first_touch"` // first touch of 16 KiB
	Drop       Figure `json:"drop"`
	Write      Figure `json:"write"`
	Read       Figure `json:"read"`
}

// slower compares times.
func slower(value, floor float64) Figure {
	return Figure{Value: value, Floor: floor, Ratio: value / floor, Unit: "ns"}
}

// throughput converts times for the same number of bytes to GB/s.
func throughput(bytes int, value, floor float64) Figure {
	n := float64(bytes)
	return Figure{Value: n / value, Floor: n / floor, Ratio: value / floor, Unit: "GB/s"}
}

// Write prints the report as two tables.
func (r Report) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "Operation\tPublished\tTarget\tMeasured\tFloor\tRatio\tAllocs\t\n")
	for _, o := range r.Operations {
		o.write(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(t, "\nEach figure is followed by its floor and the ratio. Floors of Blocks: %s;\n"+
		"of Tape and Grid: the bare atomic loop; of the write: the same loop on a Go slice.\n"+
		"Published: for Apple silicon, by the specification of unimem; in the first table mimalloc's figure in "+
		"brackets.\n\n", r.Floors)
	fmt.Fprintf(t, "Size\tPublished\tOpen\tFirst touch of 16 KiB\tDrop\tWrite\tRead\n")
	for _, s := range r.Sizes {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", BytesText(s.Bytes), s.Published, s.Open, s.FirstTouch, s.Drop,
			s.Write, s.Read)
	}
	return t.Flush()
}

func (o Operation) write(w io.Writer) {
	if o.Skipped != "" {
		fmt.Fprintf(w, "%s\t%s\t%s\tnot measured: %s\t\t\t\t\n", o.Operation, o.Published, o.Target, o.Skipped)
		return
	}
	value, floor := TimeText(o.Measured.Value), TimeText(o.Measured.Floor)
	if o.Bytes != 0 {
		value += fmt.Sprintf(" (%.1f GB/s)", o.GBPerSec)
	}
	verdict := "missed"
	switch {
	case o.Within:
		verdict = ""
	case o.FloorBeyond:
		verdict = "floor is beyond it"
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%.2fx\t%d\t%s\n", o.Operation, o.Published, o.Target, value, floor,
		o.Measured.Ratio, o.Allocs, verdict)
}

// String returns value, floor and ratio.
func (f Figure) String() string {
	if f.Unit == "ns" {
		return fmt.Sprintf("%s (%s, %.2fx)", TimeText(f.Value), TimeText(f.Floor), f.Ratio)
	}
	return fmt.Sprintf("%.1f %s (%.1f, %.2fx)", f.Value, f.Unit, f.Floor, f.Ratio)
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
