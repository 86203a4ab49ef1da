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
	Op     string // the call: "append", "save", ...
	Name   string // the file or tensor at fault; may be empty
	Detail string // what is wrong, with numbers
	Hint   string // how to fix it; may be empty
	Err    error  // one of the sentinels of this package, or nil
	Cause  error  // the error of memory, file or stream, or nil
}

// Error returns the text on one line.
func (e *Error) Error() string {
	call := "kv: " + e.Op
	if e.Name != "" {
		call += ": " + e.Name
	}
	return errtext.Line(call, e.Err, e.Detail, e.Cause, e.Hint)
}

// Unwrap returns the sentinel and the cause.
func (e *Error) Unwrap() []error { return errtext.Both(e.Err, e.Cause) }
