package attributes

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
)

// What can be wrong with attributes, for errors.Is. Every error matches ane.ErrAttributes
// as well.
var (
	// ErrMissing: a key, an entry or a symbol that has to be there.
	ErrMissing = errors.New("missing")
	// ErrKind: a value of another kind, such as a string where a number has to be.
	ErrKind = errors.New("of another kind")
	// ErrRange: a number outside its range.
	ErrRange = errors.New("out of range")
	// ErrTwice: a symbol, an index or a procedure that stands twice.
	ErrTwice = errors.New("stands twice")
	// ErrLayout: axes and strides that overlap or reach too far.
	ErrLayout = errors.New("impossible layout")
	// ErrFormat: a tensor of a type or an order of elements that anekit does not know,
	// or an image.
	ErrFormat = errors.New("unknown format")
	// ErrImage: planes of pixels, as programs of Core Video have them. It matches
	// ErrFormat too.
	ErrImage = fmt.Errorf("image: %w", ErrFormat)
)

// Error is a fault of attributes.
type Error struct {
	Path string // where: "NetworkStatusList[0].LiveInputList[2].RowStride"
	Msg  string // what is wrong, with the numbers
	Hint string // what to do, or empty
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
