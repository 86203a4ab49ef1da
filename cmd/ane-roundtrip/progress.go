package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
)

// progress is a line on a terminal that each step overwrites. It prints nothing elsewhere.
type progress struct {
	w            io.Writer // nil prints nothing
	width        int       // columns
	steps, ended int
	what         string
}

// Columns of the progress line, also where the terminal does not report its width, and of the bar in
// that line.
const (
	lineColumns = 78
	barColumns  = 20
)

// eraseLine returns to the start of the line and clears it (ECMA-48, CR and EL).
const eraseLine = "\r\x1b[K"

// progress starts a progress line; steps is 0 if their number is not known.
func (a *app) progress(steps int) *progress {
	columns, ok := page.Terminal(a.err)
	if !ok {
		return &progress{}
	}
	if columns == 0 {
		columns = lineColumns
	}
	return &progress{w: a.err, width: min(columns, lineColumns), steps: steps}
}

// now prints the name of the step that starts.
func (p *progress) now(what string) {
	p.what = what
	p.draw()
}

// done counts a step that has ended.
func (p *progress) done() {
	p.ended++
	p.draw()
}

// draw prints the line.
func (p *progress) draw() {
	if p.w == nil {
		return
	}
	line := visible(p.what)
	if p.steps > 0 {
		full := min(p.ended, p.steps) * barColumns / p.steps
		line = fmt.Sprintf("[%s%s] %d/%d %s", strings.Repeat("=", full), strings.Repeat(" ", barColumns-full), p.ended,
			p.steps, line)
	}
	if r := []rune(line); len(r) >= p.width {
		line = string(r[:p.width-1])
	}
	fmt.Fprint(p.w, eraseLine+line)
}

// clear clears the line until the next step draws it.
func (p *progress) clear() {
	if p.w != nil {
		fmt.Fprint(p.w, eraseLine)
	}
}

// stop clears the line for good.
func (p *progress) stop() {
	p.clear()
	p.w = nil
}
