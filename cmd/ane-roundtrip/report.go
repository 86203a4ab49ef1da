package main

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/plist"
	"github.com/anekit/anekit/unimem"
)

// schema names the form of the JSON. Additions keep the number.
const schema = "ane-roundtrip/1"

// Verdicts of a report.
const (
	verdictPass        = "pass"
	verdictFail        = "fail"
	verdictUnavailable = "unavailable"
)

// report is what --json prints.
type report struct {
	Schema  string        `json:"schema"`
	Command string        `json:"command"`
	Engine  *ane.Receipt  `json:"engine"`
	Engines []ane.Receipt `json:"engines,omitempty"`
	Host    host          `json:"host"`
	Checks  []trial.Check `json:"checks"`
	Verdict string        `json:"verdict"`
	Error   string        `json:"error,omitempty"`
	Tensors []placed      `json:"tensors,omitempty"` // of info --attributes
	Dump    plist.Dict    `json:"dump,omitempty"`    // of info: an envelope as in testdata/dumps
	Details any           `json:"details,omitempty"` // what the command measured besides
}

// host describes the machine.
type host struct {
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	CPUs    int    `json:"cpus"`
	Page    int    `json:"page_bytes"`
	Memory  string `json:"memory"` // what Blocks are made of
	Pinned  bool   `json:"pinned"`
	FP16    string `json:"fp16"` // which conversion runs
	Go      string `json:"go"`
	Version string `json:"version"` // of anekit
}

func thisHost() host {
	h := host{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Page: os.Getpagesize(),
		FP16: fp16.Accelerated(), Go: runtime.Version(), Version: version()}
	if b, err := unimem.Open(1); err == nil {
		h.Memory, h.Pinned = b.Backing(), b.Pinned()
		b.Close()
	}
	return h
}

// version is the module version that the linker recorded, or "devel".
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// newReport starts a report; d may be nil when no engine answered.
func newReport(command string, d *ane.Device) report {
	r := report{Schema: schema, Command: command, Host: thisHost(), Checks: []trial.Check{}, Verdict: verdictPass}
	if d != nil {
		receipt := d.Receipt()
		r.Engine = &receipt
	}
	return r
}

// write prints the report as JSON. JSON has no infinities: a value without
// bound is printed as the largest there is.
func (r report) write(w io.Writer) error {
	for i := range r.Checks {
		r.Checks[i].Value = finite(r.Checks[i].Value)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false) // types have < and >
	return e.Encode(r)
}

func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return math.MaxFloat64
	}
	return v
}
