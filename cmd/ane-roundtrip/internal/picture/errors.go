package picture

import "fmt"

// Error is the only type of error that Read returns.
type Error struct {
	File string // the name that Read was given
	What string // the fault
	Fix  string // the remedy
	Err  error  // the cause, from the decoder or the operating system, or nil
}

// Error is one line: FILE: what: cause; fix.
func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("%s: %s; %s", e.File, e.What, e.Fix)
	}
	return fmt.Sprintf("%s: %s: %v; %s", e.File, e.What, e.Err, e.Fix)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
