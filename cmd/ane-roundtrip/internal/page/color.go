package page

import (
	"io"
	"os"

	"github.com/fatih/color"
)

// Color of a status.
type Color int

// The colors: Green for pass, Red for fail, Yellow for skip.
const (
	Plain Color = iota
	Green
	Red
	Yellow
)

// Colored reports whether text for w is colored: on a terminal, unless NO_COLOR is set or TERM is
// dumb.
func Colored(w io.Writer) bool {
	_, tty := Terminal(w)
	return tty && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// Paint colors text.
func (c Color) Paint(text string) string {
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
	p.EnableColor() // the package would check standard output, but the text may go elsewhere
	return p.Sprint(text)
}
