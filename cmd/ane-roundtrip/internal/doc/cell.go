package doc

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/terminal"
)

// Cell is a part of a document: words, or a value of the object with its place.
type Cell struct {
	Number string // shown; of a text the whole text
	Unit   string // shown after the number; may be empty
	Class  string

	Raw  string // the value in the object; of a figure only
	Of   string // of a count: field=value of the counted entries
	Kind string // the unit of the value in the object; of a figure only

	place *Value // nil for words
	brief string // of Brief
}

// Path is the place of the value as a JSON Pointer; empty for words.
func (c Cell) Path() string { return c.place.path() }

// Figure reports whether the cell is a number of the object.
func (c Cell) Figure() bool { return c.Kind != "" }

// In returns the cell with a unit.
func (c Cell) In(unit string) Cell {
	c.Unit = unit
	return c
}

// Brief returns the cell with another text on a terminal, such as a number whose unit the column has.
func (c Cell) Brief(format string, args ...any) Cell {
	c.brief = terminal.Visible(fmt.Sprintf(format, args...))
	return c
}

// Exact returns the cell with the value of the object as it is on a terminal, such as all digits of a size.
func (c Cell) Exact() Cell {
	if c.Raw == "null" {
		return c
	}
	return c.Brief("%s", c.Raw)
}

// Unless returns the cell, or an empty one if its value in the object is n.
func (c Cell) Unless(n float64) Cell {
	if f, err := strconv.ParseFloat(c.Raw, 64); err == nil && f == n {
		return Cell{}
	}
	return c
}

// As returns the cell with a class of the style sheet.
func (c Cell) As(class string) Cell {
	c.Class = class
	return c
}

// Words is a cell with words of the document.
func Words(format string, args ...any) Cell {
	return Cell{Number: terminal.Visible(fmt.Sprintf(format, args...))}
}

// Nothing is an empty cell.
func Nothing() Cell { return Cell{} }

// Line joins words and cells to one line.
func Line(parts ...any) (all []Cell) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			all = append(all, Cell{Number: p})
		case Cell:
			all = append(all, p)
		case []Cell:
			all = append(all, p...)
		}
	}
	return all
}

// Text is a text of the object, with hidden characters escaped; empty for a missing one.
func (v *Value) Text(keys ...string) Cell {
	v = v.At(keys...)
	switch v.kind {
	case missing, null, array, object:
		return Cell{}
	case number:
		return v.Plain()
	}
	return Cell{Number: terminal.Visible(v.Raw), place: v}
}

// Code is a text of the object in a fixed-width font.
func (v *Value) Code(keys ...string) Cell { return v.Text(keys...).As("code") }

// Status is a status or a verdict.
func (v *Value) Status(keys ...string) Cell {
	c := v.Text(keys...)
	switch c.Number {
	case "pass", "fail", "skip", "unavailable":
		c.Class = "status " + c.Number
	}
	return c
}

// dash stands for a number that is null.
const dash = "–"

// figure is a number of the object, in a form.
func (v *Value) figure(kind string, form Form, keys []string) Cell {
	v = v.At(keys...)
	switch v.kind {
	case missing:
		return Cell{}
	case null:
		return Cell{Number: dash, place: v, Raw: "null", Kind: kind, Class: "num"}
	}
	n, unit := form(v.Float())
	return Cell{Number: n, Unit: unit, place: v, Raw: v.Raw, Kind: kind, Class: "num"}
}

// Plain is a number of any size: whole ones with all digits, others with five.
func (v *Value) Plain(keys ...string) Cell {
	v = v.At(keys...)
	return v.figure("1", func(f float64) (string, string) { return general(f, v.Raw), "" }, nil)
}

// Digits is a number with three digits.
func (v *Value) Digits(keys ...string) Cell { return v.figure("1", DigitsOf(""), keys) }

// Time is a number of nanoseconds.
func (v *Value) Time(keys ...string) Cell { return v.figure("ns", DurationOf(1), keys) }

// Size is a number of bytes.
func (v *Value) Size(keys ...string) Cell { return v.figure("bytes", SizeOf, keys) }

// Bytes is a number of bytes in a sentence, exact on a terminal.
func (v *Value) Bytes(keys ...string) Cell {
	return v.Size(keys...).Brief("%s bytes", v.At(keys...).Raw)
}

// Rate is a number of bytes per second.
func (v *Value) Rate(keys ...string) Cell { return v.figure("bytes/s", RateOf, keys) }

// PerSecond is a number of things per second.
func (v *Value) PerSecond(keys ...string) Cell { return v.figure("1", DigitsOf("/s"), keys) }

// Ratio is a quotient of two figures.
func (v *Value) Ratio(keys ...string) Cell { return v.figure("1", DigitsOf("×"), keys) }

// Percent is a fraction of 1.
func (v *Value) Percent(keys ...string) Cell {
	return v.figure("1", func(f float64) (string, string) { return digits(100 * f), "%" }, keys)
}

// Count counts the entries of an array whose field has the text want; with an empty field, all.
func (v *Value) Count(field, want string) Cell {
	n := 0
	for _, item := range v.Items() {
		if field == "" || item.At(field).Is(want) {
			n++
		}
	}
	c := Cell{Number: grouped(strconv.Itoa(n)), place: v, Raw: strconv.Itoa(n), Kind: "1", Class: "num", Of: "*"}
	if field != "" {
		c.Of = field + "=" + want
	}
	return c
}

// Shape is a list of lengths, such as [1, 64, 4, 32].
func (v *Value) Shape(keys ...string) Cell {
	v = v.At(keys...)
	if v.kind != array {
		return Cell{}
	}
	c := v.Joined(", ").As("code")
	c.Number = "[" + c.Number + "]"
	return c
}

// Joined is a list of texts.
func (v *Value) Joined(with string, keys ...string) Cell {
	v = v.At(keys...)
	var all []string
	for _, item := range v.Items() {
		all = append(all, terminal.Visible(item.Raw))
	}
	return Cell{Number: strings.Join(all, with), place: v}
}

// Counted is a number with its noun in singular or plural.
func Counted(n Cell, one, several string) []Cell {
	if n.Raw == "1" {
		several = one
	}
	return Line(n, " ", several)
}
