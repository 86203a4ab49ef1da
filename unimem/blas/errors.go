package blas

import (
	"errors"
	"strings"
	"unicode"

	"github.com/anekit/anekit/internal/errtext"
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
	errtext.Base        // the fields Op, Err (one of the kinds), Detail, Cause and Hint
	What         string // the matrix ("c", "a" or "b") or the file; may be empty
}

// Error returns the text on one line.
func (e *Error) Error() string {
	call, what, base := "blas: "+e.Op, visible(e.What), e.Base
	if what != "" {
		call += " " + what
	}
	base.Hint = visible(strings.ReplaceAll(e.Hint, e.What, what))
	return base.Line(call)
}

// visible is a text on one line; the middle of a name that no reader reads is left out.
func visible(s string) string {
	const half = 200
	if len(s) > 4*half {
		s = s[:half] + "..." + s[len(s)-half:]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
