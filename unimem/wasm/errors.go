package wasm

import (
	"errors"
	"fmt"
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
	Op             string // the call: "instantiate", "range", "surface", ...
	Offset, Length uint64 // the range at fault, if Op has one
	Detail         string // what is wrong, with numbers; may be empty
	Hint           string // how to fix it; may be empty
	Err            error  // one of the kinds
	Cause          error  // the error of memory or system, or nil
}

// Error returns the text on one line.
func (e *Error) Error() string {
	text := "wasm " + e.Op
	if e.Length > 0 || e.Offset > 0 {
		text += fmt.Sprintf(" [%d, +%d)", e.Offset, e.Length)
	}
	text += ": " + e.Err.Error()
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Cause}
}
