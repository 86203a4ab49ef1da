package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
)

// Progress is a line on a terminal that each step overwrites. It prints nothing elsewhere.
type Progress struct {
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

// Progress starts a progress line; steps is 0 if their number is not known.
func (a *App) Progress(steps int) *Progress {
	columns, ok := page.Terminal(a.Err)
	if !ok {
		return &Progress{}
	}
	if columns == 0 {
		columns = lineColumns
	}
	return &Progress{w: a.Err, width: min(columns, lineColumns), steps: steps}
}

// Now prints the name of the step that starts.
func (p *Progress) Now(what string) {
	p.what = what
	p.draw()
}

// Done counts a step that has ended.
func (p *Progress) Done() {
	p.ended++
	p.draw()
}

// draw prints the line.
func (p *Progress) draw() {
	if p.w == nil {
		return
	}
	line := Visible(p.what)
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

// Clear clears the line until the next step draws it.
func (p *Progress) Clear() {
	if p.w != nil {
		fmt.Fprint(p.w, eraseLine)
	}
}

// Stop clears the line for good.
func (p *Progress) Stop() {
	p.Clear()
	p.w = nil
}
