package chip

import "fmt"

// Degree says how well a Fact is supported. A higher Degree is better evidence.
type Degree uint8

// The degrees of evidence.
const (
	unknown  Degree = iota // not published
	Inferred               // concluded from other facts
	Stated                 // written by the source, without a measurement
	Compiled               // shown by Apple's compiler, without running
	Measured               // measured on hardware
)

var degrees = [...]string{"unknown", "inferred", "stated", "compiled", "measured"}

// String returns the word for messages.
func (d Degree) String() string {
	if int(d) >= len(degrees) {
		return fmt.Sprintf("Degree(%d)", uint8(d))
	}
	return degrees[d]
}

// MarshalText returns the word, for JSON. The error is nil.
func (d Degree) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// Tag returns the letter that tables print: I, D, C or M, "" for unknown.
func (d Degree) Tag() string {
	if int(d) >= len(degrees) {
		return ""
	}
	return [...]string{"", "I", "D", "C", "M"}[d]
}

// Fact is a figure with its evidence. The zero Fact is unknown.
type Fact[T any] struct {
	Value  T      `json:"value"`
	Degree Degree `json:"evidence"`
	Source string `json:"source"` // of the package's list of sources
}

// Known reports whether the Fact has a value.
func (f Fact[T]) Known() bool { return f.Degree != unknown }

// String returns the value, its tag and its source.
func (f Fact[T]) String() string {
	if !f.Known() {
		return "unknown"
	}
	return fmt.Sprintf("%v (%s, %s)", f.Value, f.Degree, f.Source)
}

// Span is a range of figures, from Low to High. Both are equal for a single figure.
type Span struct{ Low, High float64 }

func (s Span) String() string {
	if s.Low == s.High {
		return fmt.Sprint(s.Low)
	}
	return fmt.Sprintf("%v to %v", s.Low, s.High)
}

// Middle returns the middle of the range.
func (s Span) Middle() float64 { return (s.Low + s.High) / 2 }

func inferred[T any](v T, source string) Fact[T] { return Fact[T]{v, Inferred, source} }
func stated[T any](v T, source string) Fact[T]   { return Fact[T]{v, Stated, source} }
func compiled[T any](v T, source string) Fact[T] { return Fact[T]{v, Compiled, source} }
func measured[T any](v T, source string) Fact[T] { return Fact[T]{v, Measured, source} }
