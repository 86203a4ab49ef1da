// Package probe repeats the two experiments on which the design of unimem rests, on this machine: what surfaces cost,
// and what a mapping for a virtual machine changes. Each figure stands beside the published one.
package probe

import (
	"context"
	"fmt"
	"slices"

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
	Most       int  // bytes of the largest memory, 1 MiB to 256 MiB
	Equivalent bool // off a Mac measure what this system has instead
}

// Run runs a probe. If the system has not what it measures, the error matches ane.ErrUnavailable, and the Result has
// the rows without values.
func Run(ctx context.Context, name string, o Options) (*Result, error) {
	r := &Result{Probe: name, Equivalent: !host.Mac && o.Equivalent}
	absent := !host.Mac && !o.Equivalent
	if absent {
		o.Most = 256 << 20
	}
	var original, counterpart string
	measure := r.surfaces
	switch name {
	case IOSurface:
		original, counterpart = "IOSurface", "shared memory"
		r.Rows = surfaceRows(o.Most, r.Equivalent)
	case Hypervisor:
		original, counterpart = "Hypervisor.framework", "hypervisor"
		r.Rows = machineRows(o.Most)
		measure = r.hypervisor
	default:
		return nil, fmt.Errorf("no probe %q", name)
	}
	if absent {
		return r, &unavailable{"only macOS has " + original,
			"run it on a Mac; --equivalent measures the " + counterpart + " of this system"}
	}
	return r, measure(ctx, o.Most)
}

// unavailable is the error of a system that has not what a probe measures.
type unavailable struct{ Detail, Hint string }

func (u *unavailable) Error() string { return u.Detail + "; " + u.Hint }

func (u *unavailable) Unwrap() error { return ane.ErrUnavailable }

// find returns the row of a figure; nil if there is none.
func (r *Result) find(name string, bytes int) *Row {
	i := slices.IndexFunc(r.Rows, func(x Row) bool { return x.Name == name && x.Bytes == bytes })
	if i < 0 {
		return nil
	}
	return &r.Rows[i]
}

// set gives the row of a figure its value, or notes the error that it has none for.
func (r *Result) set(name string, bytes int, value float64, err error) {
	row := r.find(name, bytes)
	if err != nil {
		row.Note = err.Error()
		return
	}
	row.Value = &value
}

// known is a published figure.
func known(v float64) *float64 { return &v }
