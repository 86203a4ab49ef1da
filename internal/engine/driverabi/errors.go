package driverabi

import (
	"errors"
	"fmt"
)

// What can be wrong with a value handed to this package, for errors.Is.
var (
	// ErrSize: a buffer that is not exactly as long as the structure.
	ErrSize = errors.New("wrong size")
	// ErrRange: an index or a count beyond its limit.
	ErrRange = errors.New("out of range")
	// ErrTable: a method table, or a set of handlers, that no dispatcher can use.
	ErrTable = errors.New("bad method table")
)

// Error is the one error type of this package.
type Error struct {
	Structure string // the structure, table or number it is about
	Want      uint64 // bytes wanted, or the nearest value allowed
	Have      uint64 // bytes or value that came; equal to Want where neither matters
	Hint      string // what to do about it
	Err       error  // ErrSize, ErrRange or ErrTable
}

// Error returns the text on one line.
func (e *Error) Error() string {
	numbers := ""
	if e.Want != e.Have {
		numbers = fmt.Sprintf(": want %d, have %d", e.Want, e.Have)
	}
	return fmt.Sprintf("driverabi: %s: %v%s; %s", e.Structure, e.Err, numbers, e.Hint)
}

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }

// sized is nil when have is the size of the structure.
func sized(structure string, want, have int) error {
	if want == have {
		return nil
	}
	return &Error{Structure: structure, Want: uint64(want), Have: uint64(have), Err: ErrSize,
		Hint: "pass a buffer of exactly that many bytes"}
}
