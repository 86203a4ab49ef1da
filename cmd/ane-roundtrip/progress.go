package main

import (
	"github.com/cheggaaa/pb/v3"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
)

// progress is a bar on a terminal, and nothing elsewhere.
type progress struct{ bar *pb.ProgressBar }

// look of the bar; without a known end it names the step alone.
const (
	barOf   = `{{bar . }} {{counters . }} {{string . "what"}}`
	spinner = `{{cycle . "|" "/" "-" "\\" }} {{string . "what"}}`
)

// progress starts a bar; steps is 0 where their number is not known.
func (a *app) progress(steps int) *progress {
	columns, ok := page.Terminal(a.err)
	if !ok {
		return &progress{}
	}
	width := barWidth
	if columns > 0 {
		width = min(columns, barWidth)
	}
	look := barOf
	if steps == 0 {
		look = spinner
	}
	bar := pb.ProgressBarTemplate(look).New(steps).SetWriter(a.err).SetWidth(width)
	bar.Set(pb.CleanOnFinish, true).Set(pb.Terminal, true)
	return &progress{bar.Start()}
}

// now names the step that starts.
func (p *progress) now(what string) {
	if p.bar != nil {
		p.bar.Set("what", what).Write()
	}
}

// done counts a step that has ended.
func (p *progress) done() {
	if p.bar != nil {
		p.bar.Increment().Write()
	}
}

// stop takes the bar away.
func (p *progress) stop() {
	if p.bar != nil {
		p.bar.Finish()
	}
}

// barWidth is the columns of a bar, also where the terminal does not tell its own.
const barWidth = 78
