package kv

import (
	"errors"

	"github.com/anekit/anekit/internal/errtext"
)

// The kinds of error of a call, for errors.Is.
var (
	// ErrFull: the tokens do not fit, and the cache has neither Grow nor a Window.
	ErrFull = errors.New("cache is full")
	// ErrLayer: a layer that the cache does not have.
	ErrLayer = errors.New("no such layer")
	// ErrSize: a size, count or length that is impossible for the cache.
	ErrSize = errors.New("wrong size")
	// ErrOrder: tokens that a layer does not have yet, or a snapshot that the cache does not continue.
	ErrOrder = errors.New("tokens out of order")
	// ErrFingerprint: a snapshot of another model, shape or place than the cache's.
	ErrFingerprint = errors.New("fingerprint differs")
	// ErrCorrupt: a file that is damaged, truncated or not a snapshot.
	ErrCorrupt = errors.New("snapshot is damaged")
	// ErrVersion: a snapshot in a format that this version does not read.
	ErrVersion = errors.New("unknown version of the snapshot format")
	// ErrClosed: use after Close.
	ErrClosed = errors.New("cache is closed")
	// ErrInUse: Close while a Request holds tensors of the cache.
	ErrInUse = errors.New("tensors are in use")
)

// Error is the error type of every call of this package.
type Error struct {
	errtext.Base        // Op, Err (a sentinel of this package, or nil), Detail, Cause (of memory, file, stream), Hint
	Name         string // the file or tensor at fault; may be empty
}

// newError returns an Error without a cause; detail and hint may be empty.
func newError(op string, kind error, detail, hint string) *Error {
	return &Error{Base: errtext.Base{Op: op, Err: kind, Detail: detail, Hint: hint}}
}

// Error returns the text on one line.
func (e *Error) Error() string {
	call := "kv: " + e.Op
	if e.Name != "" {
		call += ": " + e.Name
	}
	return e.Line(call)
}
