package attributes

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
)

// ErrImage: an input or output is planes of pixels, as in programs for Core Video.
var ErrImage = errors.New("image")

// Error is a fault of attributes. It matches ane.ErrAttributes.
type Error struct {
	Path string // the place: "NetworkStatusList[0].LiveInputList[2].RowStride"
	Msg  string // what is wrong, with numbers
	Hint string // how to fix it; may be empty
	Err  error  // ErrImage, the error of the layout, or nil
}

func (e *Error) Error() string {
	text := "attributes: " + e.Path + ": " + e.Msg
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{ane.ErrAttributes}
	}
	return []error{ane.ErrAttributes, e.Err}
}

func fault(path, format string, args ...any) *Error {
	return &Error{Path: path, Msg: fmt.Sprintf(format, args...)}
}
