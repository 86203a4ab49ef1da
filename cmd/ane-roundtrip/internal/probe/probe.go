// Package probe repeats the two experiments on which the design of unimem rests, on this machine: what surfaces cost,
// and what a mapping for a virtual machine changes. Each figure stands beside the published one.
package probe

import (
	"context"
	"fmt"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/host"
)

// The probes.
const (
	IOSurface  = "iosurface"
	Hypervisor = "hypervisor"
)

// Names lists the probes.
func Names() []string { return []string{IOSurface, Hypervisor} }

// Row is a figure.
type Row struct {
	Name  string   `json:"name"`
	Bytes int      `json:"bytes"` // of the memory; 0 if the figure is not of a size
	Value *float64 `json:"value"` // null: not measured
	Unit  string   `json:"unit"`  // ns, GB/s, bytes, regions, runs or segments
	// Published is the figure of the experiments of unimem, on Apple silicon; null where they have none.
	Published *float64 `json:"published"`
	Note      string   `json:"note,omitempty"`
}

// Result is what a probe has measured, or would measure.
type Result struct {
	Probe string `json:"probe"`
	// Measured is what was measured: "IOSurface", "Hypervisor.framework", or something of another system; empty for
	// nothing.
	Measured   string `json:"measured"`
	Equivalent bool   `json:"equivalent"` // another system's, not Apple's
	Rows       []Row  `json:"rows"`
}

// Options say what to measure.
type Options struct {
	Most       int  // bytes of the largest memory
	Equivalent bool // off a Mac measure what this system has instead
}

// Run runs a probe. If the system has not what it measures, the error matches ane.ErrUnavailable, and the Result has
// the rows without values.
func Run(ctx context.Context, name string, o Options) (*Result, error) {
	r := &Result{Probe: name, Rows: []Row{}}
	var err error
	switch name {
	case IOSurface:
		err = r.surfaces(ctx, o)
	case Hypervisor:
		err = r.hypervisor(ctx, o)
	default:
		return nil, fmt.Errorf("no probe %q", name)
	}
	return r, err
}

// mac reports whether this system has what the probes are of.
const mac = host.Mac

// Unavailable is the error of a system that has not what a probe measures. It matches ane.ErrUnavailable.
type Unavailable struct {
	Detail string
	Hint   string // what the user can do; may be empty
}

// Error returns the text on one line.
func (u *Unavailable) Error() string {
	if u.Hint == "" {
		return u.Detail
	}
	return u.Detail + "; " + u.Hint
}

// Unwrap returns ane.ErrUnavailable.
func (u *Unavailable) Unwrap() error { return ane.ErrUnavailable }

func unavailable(detail, hint string) error { return &Unavailable{detail, hint} }

// row adds a figure.
func (r *Result) row(name string, bytes int, value float64, unit string, published *float64, note string) {
	r.Rows = append(r.Rows, Row{name, bytes, &value, unit, published, note})
}

// missing adds a figure without a value, and why.
func (r *Result) missing(name string, bytes int, unit string, published *float64, note string) {
	r.Rows = append(r.Rows, Row{name, bytes, nil, unit, published, note})
}

// known is a published figure.
func known(v float64) *float64 { return &v }

// least is the shortest time of several calls of f, in nanoseconds: what disturbs a measurement makes it longer.
func least(times int, f func()) float64 {
	best := time.Duration(1<<63 - 1)
	for range times {
		begin := time.Now()
		f()
		best = min(best, time.Since(begin))
	}
	return float64(best.Nanoseconds())
}
