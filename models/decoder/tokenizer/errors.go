package tokenizer

import (
	"errors"

	"github.com/anekit/anekit/internal/errtext"
)

// ErrUnusable: text without a tokenizer.json, or with one that cannot be used.
var ErrUnusable = errors.New("no usable tokenizer")

// Error is the error type of this package.
type Error struct {
	Op    string // the call: "read" or "encode"
	Name  string // the file; may be empty
	Hint  string // how to fix it; may be empty
	Err   error  // ErrUnusable
	Cause error  // what is wrong
}

// Error returns the text on one line.
func (e *Error) Error() string {
	call := "tokenizer: " + e.Op
	if e.Name != "" {
		call += ": " + e.Name
	}
	return errtext.Line(call, e.Err, "", e.Cause, e.Hint)
}

// Unwrap returns the sentinel and the cause.
func (e *Error) Unwrap() []error { return errtext.Both(e.Err, e.Cause) }
