package actor

import "errors"

// The kinds of error of a call, for errors.Is. Errors of the packages ane/wasm and models/decoder keep their own kinds.
var (
	// ErrGuest: a binary that cannot be frozen, or that lacks an export.
	ErrGuest = errors.New("guest cannot be an actor")
	// ErrSnapshot: a file that is no snapshot of an actor, is damaged, or is of another guest or version.
	ErrSnapshot = errors.New("snapshot cannot be used")
	// ErrModel: a snapshot of another model or other numerics. Move accepts it.
	ErrModel = errors.New("snapshot is of another model")
	// ErrBusy: Freeze of a guest with open programs, requests, caches or samplers, or with a large memory.
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
	Op     string // the call: "load", "freeze", "thaw", ...
	Name   string // the file; may be empty
	Detail string // what is wrong, with numbers; may be empty
	Hint   string // how to fix it; may be empty
	Err    error  // one of the kinds, or nil
	Cause  error  // the error below, or nil
}

// Error returns the text on one line.
func (e *Error) Error() string {
	text := "actor: " + e.Op
	if e.Name != "" {
		text += " " + e.Name
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() (all []error) {
	for _, err := range []error{e.Err, e.Cause} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}
