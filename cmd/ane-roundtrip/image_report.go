package main

import (
	"time"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// imageDetails are what image adds to the report.
type imageDetails struct {
	Filter      string        `json:"filter"`
	File        string        `json:"file"`
	Bytes       int64         `json:"bytes"`
	Width       int           `json:"width"`
	Height      int           `json:"height"`
	Channels    int           `json:"channels"`
	Depth       int           `json:"depth"`       // bits a sample
	Orientation int           `json:"orientation"` // of the file, as Exif counts; it was applied
	Opacity     string        `json:"opacity"`     // none, kept or filtered
	Compile     time.Duration `json:"compile_ns"`
	Evaluate    time.Duration `json:"evaluate_ns"`
	Notes       []string      `json:"notes,omitempty"`
}

// filtered prints what was done.
func (a *app) filtered(rig *trial.Rig, d imageDetails) error {
	if d.Depth == 16 {
		d.Notes = append(d.Notes, "of samples of 16 bits fp16 keeps 11")
	}
	a.notes(d.Notes)
	receipt := rig.Model.Receipt()
	r := newReport(nil)
	r.answeredBy(&receipt)
	r.Details = d
	a.deliver(r)
	if a.json {
		return nil
	}
	colours := "colour"
	if d.Channels == 1 {
		colours = "gray"
	}
	if d.Depth == 16 {
		colours += ", 16 bits"
	}
	if d.Orientation > 1 {
		colours += ", turned upright"
	}
	return a.printf("%s: %s, %dx%d, %s; engine %s: compile %s, evaluate %s\n",
		visible(d.File), d.Filter, d.Width, d.Height, colours, receipt.Engine, brief(d.Compile), brief(d.Evaluate))
}
