package image

import (
	"time"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// imageDetails are the fields that image adds to the report.
type imageDetails struct {
	Filter      string        `json:"filter"`
	File        string        `json:"file"`
	Bytes       int64         `json:"bytes"`
	Width       int           `json:"width"`
	Height      int           `json:"height"`
	Channels    int           `json:"channels"`
	Depth       int           `json:"depth"`       // bits per sample: 8
	Orientation int           `json:"orientation"` // of the file, 1 to 8 as in Exif; image applied it
	Opacity     string        `json:"opacity"`     // none, kept or filtered
	Compile     time.Duration `json:"compile_ns"`
	Evaluate    time.Duration `json:"evaluate_ns"`
	Notes       []string      `json:"notes,omitempty"`
}

// reportImage prints the report of image.
func reportImage(a *cli.App, rig *trial.Rig, d imageDetails) error {
	a.Notes(d.Notes)
	receipt := rig.Model.Receipt()
	r := cli.NewReport(nil)
	r.SetEngine(&receipt)
	r.Details = d
	a.Deliver(r)
	if a.JSON {
		return nil
	}
	form := "color"
	if d.Channels == 1 {
		form = "gray"
	}
	if d.Orientation > 1 {
		form += ", turned upright"
	}
	return a.Printf("%s: %s, %dx%d, %s; engine %s: compile %s, evaluate %s\n",
		cli.Visible(d.File), d.Filter, d.Width, d.Height, form, receipt.Engine, cli.Brief(d.Compile), cli.Brief(d.Evaluate))
}
