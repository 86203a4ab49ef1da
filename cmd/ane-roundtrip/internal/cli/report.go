package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/unimem"
)

// Schema is the name and version of the JSON object, which ane-roundtrip-1.schema.json describes.
// A new field keeps the version.
const Schema = "ane-roundtrip/1"

// Verdicts of a report.
const (
	VerdictPass        = "pass"
	VerdictFail        = "fail"
	VerdictUnavailable = "unavailable"
)

// Report is what --json prints. Durations are in nanoseconds (_ns), sizes in bytes.
type Report struct {
	Schema     string        `json:"schema"`
	Command    string        `json:"command"`
	Args       []string      `json:"args"`     // of the command line
	Time       string        `json:"time"`     // RFC 3339, UTC
	Engine     *ane.Receipt  `json:"engine"`   // null if no engine was opened
	Numerics   *string       `json:"numerics"` // of that engine
	Injected   []string      `json:"injected"` // faults
	Engines    []ane.Receipt `json:"engines,omitempty"`
	Host       hostFacts     `json:"host"`
	Checks     []trial.Check `json:"checks"`
	Claims     any           `json:"claims,omitempty"` // of check
	Verdict    string        `json:"verdict"`
	Error      *Failure      `json:"error,omitempty"`
	Tensors    any           `json:"tensors,omitempty"` // of info --attributes
	Dump       any           `json:"dump,omitempty"`    // of info: a dump as in testdata/dumps
	*Generated               // of generate and actor; nil for other commands
	Details    any           `json:"details,omitempty"` // figures of the command; the type depends on it

	View doc.View `json:"-"` // lays Details out for a terminal and for a page; nil for a command that prints by itself
}

// hostFacts describes the machine.
type hostFacts struct {
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	CPUs    int    `json:"cpus"`
	Page    int    `json:"page_bytes"`
	Memory  string `json:"memory"` // what Blocks are made of
	Pinned  bool   `json:"pinned"`
	Pinning string `json:"pinning,omitempty"` // "pinned", "not pinned" or "unknown"
	FP16    string `json:"fp16"`              // which conversion this CPU runs
	Go      string `json:"go"`
	Version string `json:"version"` // of anekit

	NoMemory error `json:"-"` // why no Block opens
}

func thisHost() hostFacts {
	h := hostFacts{OS: host.Name, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Page: os.Getpagesize(),
		FP16: fp16.Accelerated(), Go: runtime.Version(), Version: Version()}
	b, err := unimem.Open(1)
	if err != nil {
		h.NoMemory = err
		return h
	}
	h.Memory, h.Pinned, h.Pinning = b.Backing(), b.Pinned(), trial.Pinning(b)
	b.Close()
	return h
}

// clock returns the time, or that of the environment, in seconds since 1970 (reproducible-builds.org).
func clock() time.Time {
	if s, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		return time.Unix(s, 0).UTC()
	}
	return time.Now().UTC()
}

// NewReport starts a report; d is nil when no engine was opened.
func NewReport(d *ane.Device) Report {
	r := Report{Schema: Schema, Time: clock().Format(time.RFC3339), Injected: []string{}, Host: thisHost(),
		Checks: []trial.Check{}, Verdict: VerdictPass}
	if d != nil {
		receipt := d.Receipt()
		r.SetEngine(&receipt)
	}
	return r
}

// SetEngine records the engine that the command ran on.
func (r *Report) SetEngine(receipt *ane.Receipt) { r.Engine, r.Numerics = receipt, &receipt.Numerics }

// Judge sets the verdict to fail and returns an error that names the failed checks, if there are any.
func (r *Report) Judge() error {
	var names []string
	for _, c := range r.Checks {
		if c.Status == trial.Fail {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	r.Verdict = VerdictFail
	return Failed{Counted(len(names), "check failed", "checks failed") + ": " + strings.Join(names, ", ")}
}

// Deliver sets the report that --json prints at the end of the command.
func (a *App) Deliver(r Report) { a.result = &r }

// Reports says whether the command makes the object that --json prints.
func (a *App) Reports() bool { return a.JSON || a.ReportFile.File != nil }

// Show delivers the report of a command that opens no engine; without a view the command prints by itself.
func (a *App) Show(details any, view doc.View) {
	r := NewReport(nil)
	r.Details, r.View = details, view
	a.Deliver(r)
}

// Conclude prints and saves the report of a command that ended with err, and returns err. It does so once,
// also if the command and its interrupt both call it.
func (a *App) Conclude(ctx context.Context, err error) error {
	shows := a.result != nil && a.result.View != nil
	if !shows && !a.Reports() || a.result == nil && err == nil || a.concluded.Swap(true) {
		return err
	}
	var r Report
	if a.result != nil {
		r = *a.result
	} else {
		r = NewReport(nil)
	}
	r.Command, r.Args = a.command(), a.args
	if a.Injected != "" {
		r.Injected = append(r.Injected, a.Injected)
	}
	r.end(ctx, err)
	if unsaved := a.saveReport(&r); unsaved != nil {
		err = errors.Join(err, unsaved)
		r.end(ctx, err)
	}
	if !a.JSON && !shows {
		return err
	}
	return errors.Join(err, printError(r.print(a.Out, a.JSON)))
}

// end describes the end of the command.
func (r *Report) end(ctx context.Context, err error) {
	if err == nil {
		return
	}
	r.Verdict, r.Error = VerdictFail, failureOf(ctx, err)
	if r.Error.Code == CodeUnavailable {
		r.Verdict = VerdictUnavailable
	}
}

// print prints the report as JSON or for people.
func (r Report) print(w io.Writer, asJSON bool) error {
	object, err := encoded(r)
	switch {
	case err != nil:
	case asJSON:
		_, err = w.Write(object)
	default:
		err = doc.Terminal(w, object, r.View)
	}
	return err
}

// encoded returns a report, or its dump, as JSON.
func encoded(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false) // types have < and >
	err := e.Encode(v)
	return b.Bytes(), err
}

// Generated are the figures of generate that stand at the top of the JSON object as well.
type Generated struct {
	Tokens []int         `json:"tokens"`                 // chosen by this run
	Copied int64         `json:"bytes_copied"`           // by this run
	Rate   float64       `json:"tokens_per_second"`      // after the first token
	First  time.Duration `json:"time_to_first_token_ns"` // from the start of the prompt, of a loaded model
}
