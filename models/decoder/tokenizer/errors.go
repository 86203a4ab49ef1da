package tokenizer

import (
	"errors"

	"github.com/anekit/anekit/internal/errtext"
)

// ErrUnusable: text without a tokenizer.json, or with one that cannot be used.
var ErrUnusable = errors.New("no usable tokenizer")

// Error is the error type of this package.
type Error struct {
	errtext.Base        // the fields Op ("read" or "encode"), Err (ErrUnusable), Detail, Cause (what is wrong) and Hint
	Name         string // the file; may be empty
}

// Error returns the text on one line.
func (e *Error) Error() string {
	call := "tokenizer: " + e.Op
	if e.Name != "" {
		call += ": " + e.Name
	}
	return e.Line(call)
}
