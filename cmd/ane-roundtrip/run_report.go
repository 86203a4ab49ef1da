package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil/element"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// tensorRow tells about one tensor of a run.
type tensorRow struct {
	Name   string   `json:"name"`
	Side   string   `json:"side"` // input or output
	DType  string   `json:"dtype"`
	Shape  []int    `json:"shape"`
	File   string   `json:"file,omitempty"`
	Min    float64  `json:"min"`
	Max    float64  `json:"max"`
	NaN    int      `json:"nan"`
	Copied int      `json:"bytes_copied"` // between the file's dense array and the tensor's rows
	Notes  []string `json:"notes,omitempty"`
}

// describe measures the values of a dense tensor.
func describe(side string, l ane.Layout, file string, data []byte, copied int) tensorRow {
	r := tensorRow{Name: l.Name, Side: side, DType: l.DType.String(), Shape: l.Shape, File: file, Copied: copied,
		Min: math.Inf(1), Max: math.Inf(-1)}
	size := l.DType.Size()
	for at := 0; at < len(data); at += size {
		v := element.Load(l.DType, data[at:])
		if math.IsNaN(v) {
			r.NaN++
			continue
		}
		r.Min, r.Max = min(r.Min, v), max(r.Max, v)
	}
	return r
}

// runDetails are what run adds to the report.
type runDetails struct {
	Tensors     []tensorRow `json:"tensors"`
	Compile     float64     `json:"compile_s"`
	Load        float64     `json:"load_s"`
	EvaluateS   float64     `json:"evaluate_s"` // the first one
	Evaluate    evaluation  `json:"evaluate"`
	Notes       []string    `json:"notes,omitempty"`        // on the files of --expect
	MadeWeights []string    `json:"made_weights,omitempty"` // files that --fill-weights stood in for
}

// notes prints remarks for people. They do not go where a report in JSON goes, which
// has them itself.
func (a *app) notes(all []string) {
	if a.json && a.out == a.err {
		return
	}
	for _, n := range all {
		a.logf("note: %s", visible(n))
	}
}

// told prints what was done, and fails if an output is not what was expected.
func (j *runJob) told(d *ane.Device) error {
	a, rig := j.app, j.rig
	receipt := rig.Model.Receipt()
	notes := slices.Clone(receipt.Notes)
	for _, r := range j.rows {
		notes = append(notes, r.Notes...)
	}
	notes = append(notes, j.notes...)
	for _, path := range j.weights.made {
		notes = append(notes, fmt.Sprintf("%s is not there; its values are made up by --fill-weights %s", path, j.o.fillWeights))
	}
	a.notes(notes)
	var failed error
	for _, c := range j.checks {
		if c.Status == trial.Fail {
			failed = errFailed
		}
	}
	if a.json {
		r := newReport("run", d)
		r.Engine = &receipt
		r.Checks = append(r.Checks, j.checks...)
		if failed != nil {
			r.Verdict = verdictFail
		}
		for i := range j.rows {
			j.rows[i].Min, j.rows[i].Max = finite(j.rows[i].Min), finite(j.rows[i].Max)
		}
		r.Details = runDetails{j.rows, rig.Compile.Seconds(), rig.Load.Seconds(), j.eval.first.Seconds(), j.eval, j.notes, j.weights.made}
		if err := r.write(a.out); err != nil {
			return err
		}
		return failed
	}
	w := columns(a.out)
	fmt.Fprintln(w, "tensor\tside\ttype\tshape\tmin\tmax\tnan\tfile")
	for _, r := range j.rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%v\t%.6g\t%.6g\t%d\t%s\n", r.Name, r.Side, r.DType, r.Shape, r.Min, r.Max, r.NaN, visible(r.File))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(a.out, "\nengine %s: compile %s, load %s, %s\n", receipt.Engine, brief(rig.Compile), brief(rig.Load), j.eval); err != nil {
		return err
	}
	for _, c := range j.checks {
		if _, err := fmt.Fprintf(a.out, "%s: %s, %s\n", c.Name, a.paint(a.out, c.Status), c.Detail); err != nil {
			return err
		}
	}
	return failed
}
