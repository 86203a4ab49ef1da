package npy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/anekit/anekit/internal/wholefile"
)

// Error is the only type of error that this package returns.
type Error struct {
	File   string // name of the file; empty for a reader or writer
	Offset int64  // position in the file; 0 if unknown
	What   string // the fault
	Fix    string // the remedy
	Like   Kind   // the kind nearest to a type that is not supported, which Fix names; or 0
	Err    error  // the cause, for instance from the operating system, or nil
}

// Error is one line: FILE: byte N: what; fix: cause.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("npy: ")
	if e.File != "" {
		b.Reset()
		fmt.Fprintf(&b, "%s: ", e.File)
	}
	if e.Offset > 0 {
		fmt.Fprintf(&b, "byte %d: ", e.Offset)
	}
	b.WriteString(e.What)
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if e.Fix != "" {
		fmt.Fprintf(&b, "; %s", e.Fix)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// inFile sets the file of an *Error, and turns any other error into an *Error.
func inFile(err error, file, what, fix string) error {
	if err == nil {
		return nil
	}
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{What: what, Fix: fix, Err: wholefile.Cause(err)}
	}
	named := *e
	named.File = file
	return &named
}
