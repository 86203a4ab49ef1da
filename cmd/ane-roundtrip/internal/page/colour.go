package page

import (
	"io"
	"os"

	"github.com/fatih/color"
)

// Colour of a status.
type Colour int

// Colours, for what is as it should be, what is not, and what could not be told.
const (
	Plain Colour = iota
	Green
	Red
	Yellow
)

// Coloured reports whether text for w is coloured: on a terminal, unless NO_COLOR is set
// or TERM is dumb.
func Coloured(w io.Writer) bool {
	_, tty := Terminal(w)
	return tty && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// Paint colours text.
func (c Colour) Paint(text string) string {
	var p *color.Color
	switch c {
	case Green:
		p = color.New(color.FgGreen)
	case Red:
		p = color.New(color.FgRed, color.Bold)
	case Yellow:
		p = color.New(color.FgYellow)
	default:
		return text
	}
	p.EnableColor() // standard output need not be what the text is for
	return p.Sprint(text)
}
