package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
)

// cell is a part of the page: words of the page, or a value of the object with its place.
type cell struct {
	Number string // shown; of a text the whole text
	Unit   string // shown after the number; may be empty
	Class  string

	Path string // JSON Pointer; empty for words of the page
	Raw  string // the value in the object; of a figure only
	Of   string // of a count: field=value of the counted entries
	Kind string // the unit of the value in the object; of a figure only
}

// Figure reports whether the cell is a number of the object.
func (c cell) Figure() bool { return c.Kind != "" }

// nothing is an empty cell.
func nothing() cell { return cell{} }

// words is a cell with words of the page.
func words(format string, args ...any) cell { return cell{Number: fmt.Sprintf(format, args...)} }

// texts is a text of the object, with hidden characters escaped; empty for a missing one.
func texts(v *value) cell {
	switch v.kind {
	case missing, null, array, object:
		return cell{}
	case number:
		return plain(v)
	}
	return cell{Number: page.Visible(v.raw), Path: v.path}
}

// code is a text of the object in a fixed-width font.
func code(v *value) cell {
	c := texts(v)
	c.Class = "code"
	return c
}

// status is a status or a verdict.
func status(v *value) cell {
	c := texts(v)
	switch v.raw {
	case "pass", "fail", "skip", "unavailable":
		c.Class = "status " + v.raw
	}
	return c
}

// dash stands for a number that is null.
const dash = "–"

// figure is a number of the object, in a form.
func figure(v *value, kind string, form func(float64) (string, string)) cell {
	switch v.kind {
	case missing:
		return cell{}
	case null:
		return cell{Number: dash, Path: v.path, Raw: "null", Kind: kind, Class: "num"}
	}
	n, unit := form(v.float())
	return cell{Number: n, Unit: unit, Path: v.path, Raw: v.raw, Kind: kind, Class: "num"}
}

// Forms of figures. The name of a kind is the unit of the value in the object.

func plain(v *value) cell {
	return figure(v, "1", func(f float64) (string, string) { return general(f, v.raw), "" })
}

func nanoseconds(v *value) cell { return figure(v, "ns", durationOf(1)) }
func size(v *value) cell        { return figure(v, "bytes", sizeOf) }
func rate(v *value) cell        { return figure(v, "bytes/s", rateOf) }
func ratio(v *value) cell {
	return figure(v, "1", func(f float64) (string, string) { return digits(f), "×" })
}
func percent(v *value) cell {
	return figure(v, "1", func(f float64) (string, string) { return digits(100 * f), "%" })
}

// exactly is an integer with separators.
func exactly(v *value, unit string) cell {
	return figure(v, "1", func(f float64) (string, string) { return general(f, v.raw), unit })
}

// count counts entries of an array; field and want select those whose field has that text.
func count(v *value, field, want string) cell {
	n := 0
	for _, item := range v.items {
		if field == "" || item.at(field).is(want) {
			n++
		}
	}
	c := cell{Number: grouped(strconv.Itoa(n)), Path: v.path, Raw: strconv.Itoa(n), Kind: "1", Class: "num", Of: "*"}
	if field != "" {
		c.Of = field + "=" + want
	}
	return c
}

// shape is a list of lengths, such as 1 × 64 × 4 × 32.
func shape(v *value) cell {
	if v.kind != array {
		return cell{}
	}
	var all []string
	for _, item := range v.items {
		all = append(all, item.raw)
	}
	return cell{Number: "[" + strings.Join(all, ", ") + "]", Path: v.path, Class: "code"}
}

// joined is a list of texts.
func joined(v *value, with string) cell {
	var all []string
	for _, item := range v.items {
		all = append(all, page.Visible(item.raw))
	}
	return cell{Number: strings.Join(all, with), Path: v.path}
}

// durationOf formats a time; unit is the unit of the value in nanoseconds.
func durationOf(unit float64) func(float64) (string, string) {
	return func(f float64) (string, string) { return scaled(f*unit, 1000, "ns", "µs", "ms", "s") }
}

func sizeOf(f float64) (string, string) { return scaled(f, 1024, "B", "KiB", "MiB", "GiB", "TiB") }

func rateOf(f float64) (string, string) {
	return scaled(f, 1000, "B/s", "KB/s", "MB/s", "GB/s", "TB/s")
}

// scaled divides by step until the number has at most three digits before the point.
func scaled(f, step float64, units ...string) (string, string) {
	i := 0
	for i < len(units)-1 && math.Abs(three(f)) >= step {
		f, i = f/step, i+1
	}
	return digits(f), units[i]
}

// three rounds a number below 1000 to three digits.
func three(f float64) float64 {
	if f == 0 || math.Abs(f) >= 999.5 || math.IsNaN(f) {
		return f
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 3, 64), 64) // its own text
	return rounded
}

// digits formats a number with three digits, and all digits before the point.
func digits(f float64) string {
	whole := f == math.Trunc(f)
	f = three(f)
	a := math.Abs(f)
	switch {
	case math.IsInf(f, 0) || math.IsNaN(f):
		return fmt.Sprint(f)
	case a >= 1e15:
		return power(strconv.FormatFloat(f, 'e', 2, 64))
	case whole, a >= 100:
		return signed(grouped(strconv.FormatFloat(f, 'f', 0, 64)))
	case a >= 10:
		return signed(strconv.FormatFloat(f, 'f', 1, 64))
	case a >= 1:
		return signed(strconv.FormatFloat(f, 'f', 2, 64))
	case a >= 1e-3:
		return signed(strconv.FormatFloat(f, 'f', 2-int(math.Floor(math.Log10(a))), 64))
	}
	return power(strconv.FormatFloat(f, 'e', 2, 64))
}

// general formats a number of any size: whole numbers with all digits, others with five.
func general(f float64, raw string) string {
	a := math.Abs(f)
	switch {
	case !strings.ContainsAny(raw, ".eE"):
		return signed(grouped(raw))
	case f == math.Trunc(f) && a < 1e15:
		return signed(grouped(strconv.FormatFloat(f, 'f', 0, 64)))
	case a >= 1e5 || a < 1e-3:
		return power(strconv.FormatFloat(f, 'e', 3, 64))
	}
	if a < 1 {
		return signed(strconv.FormatFloat(f, 'g', 4, 64))
	}
	text := strconv.FormatFloat(f, 'g', 5, 64)
	if a >= 1e4 { // without a fraction
		text = grouped(text)
	}
	return signed(text)
}

// grouped puts commas between thousands.
func grouped(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return sign + s
}

// minus is the sign of negative numbers, as wide as a digit.
const minus = "−"

func signed(s string) string { return strings.Replace(s, "-", minus, 1) }

// power shortens an exponent: 1.50e-05 becomes 1.5e−5.
func power(s string) string {
	mantissa, exponent, _ := strings.Cut(s, "e")
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	n, _ := strconv.Atoi(exponent)
	return signed(mantissa) + "e" + signed(strconv.Itoa(n))
}
