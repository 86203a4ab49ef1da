package doc

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Form formats a number and names its unit.
type Form = func(float64) (number, unit string)

// DigitsOf formats a number with three digits, of a unit.
func DigitsOf(unit string) Form {
	return func(f float64) (string, string) { return digits(f), unit }
}

// DurationOf formats a time; unit is the unit of the value in nanoseconds.
func DurationOf(unit float64) Form {
	return func(f float64) (string, string) { return scaled(f*unit, 1000, "ns", "µs", "ms", "s") }
}

// SizeOf formats a number of bytes.
func SizeOf(f float64) (string, string) { return scaled(f, 1024, "B", "KiB", "MiB", "GiB", "TiB") }

// RateOf formats bytes per second.
func RateOf(f float64) (string, string) {
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

// general formats a number of any size: whole numbers with all digits, others with four or five.
func general(f float64, raw string) string {
	a := math.Abs(f)
	switch {
	case !strings.ContainsAny(raw, ".eE"):
		return signed(grouped(raw))
	case f == math.Trunc(f) && a < 1e15:
		return signed(grouped(strconv.FormatFloat(f, 'f', 0, 64)))
	case a >= 1e5 || a < 1e-3:
		return power(strconv.FormatFloat(f, 'e', 3, 64))
	case a >= 1e4: // without a fraction
		return signed(grouped(strconv.FormatFloat(f, 'f', 0, 64)))
	case a < 1:
		return signed(strconv.FormatFloat(f, 'g', 4, 64))
	}
	return signed(strconv.FormatFloat(f, 'g', 5, 64))
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
