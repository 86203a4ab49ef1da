package run

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil/element"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/modes"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/timeline"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// tensorRow describes one tensor of a run.
type tensorRow struct {
	Name   string       `json:"name"`
	Side   string       `json:"side"` // input or output
	DType  string       `json:"dtype"`
	Shape  []int        `json:"shape"`
	File   string       `json:"file,omitempty"`
	Min    trial.Number `json:"min"` // null if the tensor has no finite least value
	Max    trial.Number `json:"max"`
	NaN    int          `json:"nan"`
	Copied int          `json:"bytes_copied"` // between the file's dense array and the tensor's rows
	Notes  []string     `json:"notes,omitempty"`
}

// describe returns the row of a tensor with dense data: least and largest value and the count of NaN.
func describe(side string, l ane.Layout, file string, data []byte, copied int) tensorRow {
	r := tensorRow{Name: l.Name, Side: side, DType: l.DType.String(), Shape: l.Shape, File: file, Copied: copied,
		Min: trial.Number(math.Inf(1)), Max: trial.Number(math.Inf(-1))}
	size := l.DType.Size()
	for at := 0; at < len(data); at += size {
		v := element.Load(l.DType, data[at:])
		if math.IsNaN(v) {
			r.NaN++
			continue
		}
		r.Min, r.Max = min(r.Min, trial.Number(v)), max(r.Max, trial.Number(v))
	}
	return r
}

// runDetails are the fields that run adds to the report.
type runDetails struct {
	Tensors     []tensorRow   `json:"tensors"`
	Compile     time.Duration `json:"compile_ns"`
	Load        time.Duration `json:"load_ns"`
	Evaluate    evaluation    `json:"evaluate"`
	Notes       []string      `json:"notes,omitempty"`        // conversions of the files of --expect
	MadeWeights []string      `json:"made_weights,omitempty"` // files that were missing and filled by --fill-weights

	Compare  *modes.Report    `json:"compare,omitempty"` // of --compare
	Surfaces []trial.Surface  `json:"surfaces"`
	Timeline *timeline.Record `json:"timeline,omitempty"` // with --report or --trace
}

// report prints the run and returns errFailed if an output differs from --expect.
func (j *runJob) report(d *ane.Device) error {
	a, rig := j.app, j.rig
	receipt := rig.Model.Receipt()
	notes := slices.Clone(receipt.Notes)
	for _, r := range j.rows {
		notes = append(notes, r.Notes...)
	}
	notes = append(notes, j.notes...)
	for _, path := range j.weights.Made {
		notes = append(notes, fmt.Sprintf("%s is missing; --fill-weights %s filled it", path,
			j.o.fillWeights))
	}
	a.Notes(notes)
	r := cli.NewReport(d)
	r.SetEngine(&receipt)
	r.Checks = append(r.Checks, j.checks...)
	r.Details = runDetails{j.rows, rig.Compile, rig.Load, j.eval, j.notes, j.weights.Made, j.compared, rig.Surfaces(),
		j.timeline}
	failed := r.Judge()
	a.Deliver(r)
	if a.JSON {
		return failed
	}
	w := page.NewTable("tensor", "side", "type", "shape", "min", "max", "nan", "file")
	w.Shorten(0, 7)
	for _, r := range j.rows {
		w.Row(cli.Visible(r.Name), r.Side, r.DType, fmt.Sprint(r.Shape), fmt.Sprintf("%.6g", float64(r.Min)),
			fmt.Sprintf("%.6g", float64(r.Max)), fmt.Sprint(r.NaN), cli.Visible(r.File))
	}
	if err := a.Table(w); err != nil {
		return err
	}
	err := a.Printf("\nengine %s: compile %s, load %s, %s\n", receipt.Engine, cli.Brief(rig.Compile), cli.Brief(rig.Load),
		j.eval)
	if err != nil {
		return err
	}
	if j.compared != nil {
		if err := j.compareTable(); err != nil {
			return err
		}
	}
	for _, c := range j.checks {
		if err := a.Printf("%s: %s, %s\n", cli.Visible(c.Name), cli.Paint(a.Out, c.Status), cli.Visible(c.Detail)); err != nil {
			return err
		}
	}
	return failed
}
