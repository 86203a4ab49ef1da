package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/terminal"
)

// Progress is a line on a terminal that each step overwrites. It prints nothing elsewhere.
type Progress struct {
	w            io.Writer // nil prints nothing
	width        int       // columns
	steps, ended int
	what         string
}

const (
	lineColumns = 78         // of the line, also where the terminal does not report its width
	barColumns  = 20         // of the bar in that line
	eraseLine   = "\r\x1b[K" // returns to the start of the line and clears it (ECMA-48, CR and EL)
)

// Progress starts a progress line; steps is 0 if their number is not known.
func (a *App) Progress(steps int) *Progress {
	columns, ok := terminal.Columns(a.Err)
	if !ok {
		return &Progress{}
	}
	if columns == 0 || columns > lineColumns {
		columns = lineColumns
	}
	return &Progress{w: a.Err, width: columns, steps: steps}
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

func (p *Progress) draw() {
	line := Visible(p.what)
	if p.steps > 0 {
		bar := strings.Repeat("=", min(p.ended, p.steps)*barColumns/p.steps)
		line = fmt.Sprintf("[%-*s] %d/%d %s", barColumns, bar, p.ended, p.steps, line)
	}
	if r := []rune(line); len(r) >= p.width && p.width > 0 {
		line = string(r[:p.width-1])
	}
	p.print(line)
}

func (p *Progress) print(line string) {
	if p.w != nil {
		fmt.Fprint(p.w, eraseLine+line)
	}
}

// Clear clears the line until the next step draws it.
func (p *Progress) Clear() { p.print("") }

// Stop clears the line for good.
func (p *Progress) Stop() {
	p.Clear()
	p.w = nil
}
