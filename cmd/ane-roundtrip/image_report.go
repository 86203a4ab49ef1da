package main

import (
	"fmt"
	"time"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// imageDetails are what image adds to the report.
type imageDetails struct {
	Filter      string   `json:"filter"`
	File        string   `json:"file"`
	Bytes       int64    `json:"bytes"`
	Width       int      `json:"width"`
	Height      int      `json:"height"`
	Channels    int      `json:"channels"`
	Depth       int      `json:"depth"`       // bits a sample
	Orientation int      `json:"orientation"` // of the file, as Exif counts; it was applied
	Opacity     string   `json:"opacity"`     // none, kept or filtered
	Compile     float64  `json:"compile_s"`
	Evaluate    float64  `json:"evaluate_s"`
	Notes       []string `json:"notes,omitempty"`
}

// filtered prints what was done.
func (a *app) filtered(rig *trial.Rig, d imageDetails, elapsed time.Duration) error {
	if d.Depth == 16 {
		d.Notes = append(d.Notes, "of samples of 16 bits fp16 keeps 11")
	}
	a.notes(d.Notes)
	receipt := rig.Model.Receipt()
	if a.json {
		r := newReport("image", nil)
		r.Engine = &receipt
		r.Details = d
		return r.write(a.out)
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
	_, err := fmt.Fprintf(a.out, "%s: %s, %dx%d, %s; engine %s: compile %s, evaluate %s\n",
		visible(d.File), d.Filter, d.Width, d.Height, colours, receipt.Engine, brief(rig.Compile), brief(elapsed))
	return err
}
