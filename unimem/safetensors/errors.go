package safetensors

import (
	"errors"
	"strconv"
	"strings"

	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/unimem"
)

// The kinds of error, for errors.Is.
var (
	// ErrHeader: a header that is not of the format, or an index that is not of its.
	ErrHeader = errors.New("malformed header")
	// ErrTruncated: a file that ends before its header or its tensors do.
	ErrTruncated = errors.New("file is truncated")
	// ErrOverlap: two tensors share bytes.
	ErrOverlap = errors.New("tensors overlap")
	// ErrHole: bytes of the file belong to no tensor.
	ErrHole = errors.New("bytes belong to no tensor")
	// ErrDuplicate: a name that occurs twice.
	ErrDuplicate = errors.New("name occurs twice")
	// ErrDType: a type that the format does not have, or that the call cannot handle.
	ErrDType = errors.New("bad element type")
	// ErrShape: a shape whose elements do not fill the tensor's bytes.
	ErrShape = errors.New("bad shape")
	// ErrRange: an element becomes infinite or NaN as fp16.
	ErrRange = errors.New("number is not finite as fp16")
	// ErrName: no tensor has this name.
	ErrName = errors.New("no such tensor")
	// ErrMisaligned: a tensor that does not start at a multiple of its element's size.
	ErrMisaligned = errors.New("misaligned tensor")
	// ErrChanged: another process made the mapped file shorter. It is unimem.ErrChanged.
	ErrChanged = unimem.ErrChanged
	// ErrClosed: the File or Writer is closed, or the Tape of a loaded File was cleared. It is
	// unimem.ErrClosed.
	ErrClosed = unimem.ErrClosed
)

// Error is the error type of this package.
type Error struct {
	// the fields Op, Err (a sentinel of this package, or the error of the system or of unimem), Detail, Cause and Hint
	errtext.Base
	File   string // path of the file; may be empty
	Tensor string // name of the tensor; may be empty
	Offset int64  // offset in the file in bytes, -1 if the error has none
}

// Error returns the text on one line.
func (e *Error) Error() string {
	call := "safetensors: " + e.Op
	if e.File != "" {
		call += " " + e.File
	}
	if e.Tensor != "" {
		call += ": tensor " + quote(e.Tensor)
	}
	if e.Offset >= 0 {
		call += " at byte " + strconv.FormatInt(e.Offset, 10)
	}
	return e.Line(call)
}

// maxQuoted bounds how much of a name a message has.
const maxQuoted = 100

func quote(name string) string {
	if len(name) > maxQuoted {
		name = strings.ToValidUTF8(name[:maxQuoted], "") + ".."
	}
	return strconv.Quote(name)
}
