package blas

import (
	"errors"
	"fmt"
)

// The kinds of error of this package, for errors.Is.
var (
	// ErrUnavailable: Open on a system without the library, or in a build that cannot load one.
	ErrUnavailable = errors.New("no library of matrix products")
	// ErrShape: dimensions that are negative, too large or do not fit each other.
	ErrShape = errors.New("shapes do not fit")
	// ErrShort: a matrix that has fewer elements than its shape, or rows that overlap.
	ErrShort = errors.New("matrix is longer than its memory")
	// ErrOverlap: a destination that shares memory with an operand.
	ErrOverlap = errors.New("destination overlaps an operand")
)

// Error is the error type of every call of this package, except for those that unimem returns.
type Error struct {
	Op   string // "open", "matrix" or "product"
	What string // the matrix ("c", "a" or "b") or the file; may be empty
	Err  error  // one of the kinds
	Hint string // what is wrong, with numbers, and how to fix it; may be empty
}

// Error returns the text on one line.
func (e *Error) Error() string {
	text := "blas: " + e.Op
	if e.What != "" {
		text += " " + e.What
	}
	text = fmt.Sprintf("%s: %v", text, e.Err)
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }
