package main

import (
	"io"
	"os"

	"github.com/cheggaaa/pb/v3"
	"golang.org/x/term"
)

// progress is a bar on a terminal, and nothing elsewhere.
type progress struct{ bar *pb.ProgressBar }

// look of the bar; without a known end it only tells what is going on.
const (
	barOf   = `{{bar . }} {{counters . }} {{string . "what"}}`
	spinner = `{{cycle . "|" "/" "-" "\\" }} {{string . "what"}}`
)

// progress starts a bar of some steps, or of nobody knows how many when steps
// is 0.
func (a *app) progress(steps int) *progress {
	width, ok := watched(a.err)
	if !ok {
		return &progress{}
	}
	look := barOf
	if steps == 0 {
		look = spinner
	}
	bar := pb.ProgressBarTemplate(look).New(steps).SetWriter(a.err).SetWidth(width)
	bar.Set(pb.CleanOnFinish, true).Set(pb.Terminal, true)
	return &progress{bar.Start()}
}

// now says what is being done.
func (p *progress) now(what string) {
	if p.bar != nil {
		p.bar.Set("what", what).Write()
	}
}

// done counts one step.
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

// watched reports whether a person watches w, and the columns for a bar: up to
// 78, also where the terminal does not tell.
func watched(w io.Writer) (width int, ok bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return min(width, 78), true
	}
	return 78, true
}
