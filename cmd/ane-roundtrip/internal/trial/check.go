package trial

import (
	"encoding/json"
	"fmt"
	"math"
)

// Status of a Check.
const (
	Pass = "pass"
	Fail = "fail"
	Skip = "skip"
)

// Number is a measured value. It is null in JSON if it is NaN or infinite. NaN also stands for a check
// that measures nothing.
type Number float64

// Finite reports whether n is a number that JSON can hold.
func (n Number) Finite() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// MarshalJSON encodes the number, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.Finite() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// Check is the result of one check.
type Check struct {
	Name    string  `json:"name"`
	Status  string  `json:"status"`
	Value   Number  `json:"value"` // null: the check measures nothing, or the value is not finite
	Unit    string  `json:"unit"`
	Allowed *Bounds `json:"allowed"` // null: the check does not compare the value
	Detail  string  `json:"detail"`
}

// Bounds are the limits of a value, in its unit. A missing one is no limit.
type Bounds struct {
	Min *Number `json:"min,omitempty"`
	Max *Number `json:"max,omitempty"`
	// Relative times the magnitude of the expected value is added to Max.
	Relative *Number `json:"relative,omitempty"`
	// Above1 times that magnitude takes the place of Max where it is above 1.
	Above1 *Number `json:"relative_above_1,omitempty"`
}

// AtMost is an upper bound.
func AtMost(v float64) *Bounds { return &Bounds{Max: (*Number)(&v)} }

// AtLeast is a lower bound.
func AtLeast(v float64) *Bounds { return &Bounds{Min: (*Number)(&v)} }

// Within is a range.
func Within(low, high float64) *Bounds { return &Bounds{Min: (*Number)(&low), Max: (*Number)(&high)} }

// Tolerance is an absolute bound and one relative to the expected value; they add up.
func Tolerance(abs, rel float64) *Bounds {
	return &Bounds{Max: (*Number)(&abs), Relative: (*Number)(&rel)}
}

// Scaled is a bound that grows with expected values above 1.
func Scaled(v float64) *Bounds { return &Bounds{Max: (*Number)(&v), Above1: (*Number)(&v)} }

// Judge returns a Check that passes if ok. Without a unit the Check has no value.
func Judge(name string, ok bool, value float64, unit, format string, args ...any) Check {
	c := Check{Name: name, Status: Pass, Value: Number(value), Unit: unit, Detail: fmt.Sprintf(format, args...)}
	if unit == "" {
		c.Value = Number(math.NaN())
	}
	if !ok {
		c.Status = Fail
	}
	return c
}

// Compare returns a Check of a value that passes within the bounds.
func Compare(name string, value float64, unit string, allowed *Bounds, format string, args ...any) Check {
	v := Number(value)
	ok := (allowed.Min == nil || v >= *allowed.Min) && (allowed.Max == nil || v <= *allowed.Max)
	return Judge(name, ok, value, unit, format, args...).Against(allowed)
}

// Against returns the Check with the bounds that its value was compared with.
func (c Check) Against(b *Bounds) Check {
	c.Allowed = b
	return c
}

// Skipped returns a Check that cannot run here.
func Skipped(name, format string, args ...any) Check {
	return Check{Name: name, Status: Skip, Value: Number(math.NaN()), Detail: fmt.Sprintf(format, args...)}
}
