package attributes

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
)

// The kinds of fault of attributes, for errors.Is. Every error matches ane.ErrAttributes
// as well.
var (
	// ErrMissing: a required key, entry or symbol.
	ErrMissing = errors.New("missing")
	// ErrKind: a wrong kind of value, such as a string instead of a number.
	ErrKind = errors.New("wrong kind of value")
	// ErrRange: a number outside its range.
	ErrRange = errors.New("out of range")
	// ErrDuplicate: a symbol, an index or a procedure that is given twice.
	ErrDuplicate = errors.New("is given twice")
	// ErrLayout: axes and strides that overlap or are too large.
	ErrLayout = errors.New("impossible layout")
	// ErrFormat: an unknown element type or order of elements, or an image.
	ErrFormat = errors.New("unknown format")
	// ErrImage: planes of pixels, as in programs for Core Video. It also matches
	// ErrFormat.
	ErrImage = fmt.Errorf("image: %w", ErrFormat)
)

// Error is a fault of attributes.
type Error struct {
	Path string // the place: "NetworkStatusList[0].LiveInputList[2].RowStride"
	Msg  string // what is wrong, with numbers
	Hint string // how to fix it; may be empty
	Err  error  // a sentinel of this package
}

func (e *Error) Error() string {
	text := "attributes: " + e.Path + ": " + e.Msg
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

func (e *Error) Unwrap() []error { return []error{ane.ErrAttributes, e.Err} }
