package actor

import (
	"errors"

	"github.com/anekit/anekit/internal/errtext"
)

// The kinds of error of a call, for errors.Is. Errors of the packages ane/wasm and models/decoder keep their own kinds.
var (
	// ErrGuest: a binary that cannot be frozen, or that lacks an export.
	ErrGuest = errors.New("guest cannot be an actor")
	// ErrSnapshot: a file that is not a snapshot of an actor, is damaged, or is of another guest or version.
	ErrSnapshot = errors.New("snapshot cannot be used")
	// ErrModel: a snapshot of another model or other numerics. Move accepts it.
	ErrModel = errors.New("snapshot is of another model")
	// ErrBusy: Freeze of a guest with open programs, requests or caches, or with a large memory.
	ErrBusy = errors.New("guest cannot be frozen now")
	// ErrTalk: the guest returned the code of an error, or a token that the model does not have.
	ErrTalk = errors.New("guest failed")
	// ErrEnd: the guest has nothing more to say, or the last token ends the text.
	ErrEnd = errors.New("end of the talk")
	// ErrClosed: use after Close.
	ErrClosed = errors.New("closed")
)

// Error is the error type of this package.
type Error struct {
	errtext.Base        // the fields Op, Err (one of the kinds), Detail, Cause (the error below) and Hint
	Name         string // the file; may be empty
}

// newError returns an Error without a cause; detail and hint may be empty.
func newError(op string, kind error, detail, hint string) *Error {
	return &Error{Base: errtext.Base{Op: op, Err: kind, Detail: detail, Hint: hint}}
}

// Error returns the text on one line.
func (e *Error) Error() string {
	call := "actor: " + e.Op
	if e.Name != "" {
		call += " " + e.Name
	}
	return e.Line(call)
}
