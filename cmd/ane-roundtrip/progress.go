package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
)

// progress is a line on a terminal that is written over, and nothing elsewhere.
type progress struct {
	w           io.Writer // nil for nothing
	width       int       // columns
	steps, past int
	what        string
}

// Columns of a bar: of its line, also where the terminal does not tell its own, and of the
// bar within it.
const (
	barLine = 78
	barOnly = 20
)

// eraseLine returns to the start of the line and clears it (ECMA-48, CR and EL).
const eraseLine = "\r\x1b[K"

// progress starts a bar; steps is 0 where their number is not known.
func (a *app) progress(steps int) *progress {
	columns, ok := page.Terminal(a.err)
	if !ok {
		return &progress{}
	}
	if columns == 0 {
		columns = barLine
	}
	return &progress{w: a.err, width: min(columns, barLine), steps: steps}
}

// now names the step that starts.
func (p *progress) now(what string) {
	p.what = what
	p.draw()
}

// done counts a step that has ended.
func (p *progress) done() {
	p.past++
	p.draw()
}

// draw writes the line.
func (p *progress) draw() {
	if p.w == nil {
		return
	}
	line := visible(p.what)
	if p.steps > 0 {
		full := min(p.past, p.steps) * barOnly / p.steps
		line = fmt.Sprintf("[%s%s] %d/%d %s", strings.Repeat("=", full), strings.Repeat(" ", barOnly-full), p.past,
			p.steps, line)
	}
	if r := []rune(line); len(r) >= p.width {
		line = string(r[:p.width-1])
	}
	fmt.Fprint(p.w, eraseLine+line)
}

// stop takes the bar away.
func (p *progress) stop() {
	if p.w != nil {
		fmt.Fprint(p.w, eraseLine)
		p.w = nil
	}
}
