package wasm

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/internal/errtext"
)

// The kinds of error of a call, for errors.Is. Errors of package unimem keep their own kinds.
var (
	// ErrBounds: a range that is not within the memory that the guest has now.
	ErrBounds = errors.New("range is outside of the guest's memory")
	// ErrAligned: an offset or a length that is not a multiple of Align.
	ErrAligned = errors.New("range is not aligned")
	// ErrOverlap: a range that shares pages with another Region's surface.
	ErrOverlap = errors.New("range shares pages with another surface")
	// ErrLimit: a guest whose memory begins larger than the limit.
	ErrLimit = errors.New("memory is beyond the limit")
	// ErrClosed: the guest is closed.
	ErrClosed = errors.New("guest is closed")
	// ErrUnsupported: this system cannot map a surface over a guest's memory.
	ErrUnsupported = errors.New("surfaces cannot be mapped over memory here")
)

// Error is the error type of this package.
type Error struct {
	errtext.Base          // the fields Op, Err (one of the kinds), Detail, Cause (the error of memory or system) and Hint
	Offset, Length uint64 // the range at fault, if Op has one
}

// newError returns an Error without a cause; detail and hint may be empty.
func newError(op string, kind error, detail, hint string) *Error {
	return &Error{Base: errtext.Base{Op: op, Err: kind, Detail: detail, Hint: hint}}
}

// Error returns the text on one line.
func (e *Error) Error() string {
	call := "wasm " + e.Op
	if e.Length > 0 || e.Offset > 0 {
		call += fmt.Sprintf(" [%d, +%d)", e.Offset, e.Length)
	}
	return e.Line(call)
}
