package trial

import "fmt"

// Status of a Check.
const (
	Pass = "pass"
	Fail = "fail"
	Skip = "skip"
)

// Check is one thing that was measured and judged.
type Check struct {
	Name   string  `json:"name"`
	Status string  `json:"status"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Detail string  `json:"detail"`
}

// Judge makes a Check that passes when ok.
func Judge(name string, ok bool, value float64, unit, format string, args ...any) Check {
	c := Check{Name: name, Status: Pass, Value: value, Unit: unit, Detail: fmt.Sprintf(format, args...)}
	if !ok {
		c.Status = Fail
	}
	return c
}

// skip makes a Check that could not be made here.
func skip(name, format string, args ...any) Check {
	return Check{Name: name, Status: Skip, Detail: fmt.Sprintf(format, args...)}
}
