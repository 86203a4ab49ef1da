package blob

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane/mil"
)

// The kinds of fault of a weight file or of its use, for errors.Is.
var (
	ErrFormat  = errors.New("not a weight file")
	ErrVersion = errors.New("unsupported version of the weight format")
	ErrOffset  = errors.New("offset names no entry")
	ErrBounds  = errors.New("outside of the file")
	ErrEntry   = errors.New("malformed entry metadata")
	ErrCount   = errors.New("wrong number of entries")
	ErrType    = errors.New("scalar type does not match")
	ErrSize    = errors.New("payload size does not match")
	ErrRange   = errors.New("number is not finite as fp16")
	ErrClosed  = errors.New("weight file is closed")
)

// Error is a fault of a weight file, or of a call about one.
type Error struct {
	File   string // as given to Open or NewReader; may be empty
	Offset int64  // byte of the file at fault; -1 if none
	Msg    string // what is wrong
	Hint   string // how to fix it; may be empty
	Err    error  // one of the errors above, or one of the system
}

// Error returns FILE: byte N: what is wrong; how to fix it.
func (e *Error) Error() string {
	text := e.Msg
	if e.Offset >= 0 {
		text = fmt.Sprintf("byte %d: %s", e.Offset, text)
	}
	return (&mil.Error{File: e.File, Msg: text, Hint: e.Hint}).Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// refused returns the error of a call that belongs to no place of a file.
func refused(sentinel error, hint, format string, args ...any) *Error {
	return &Error{Offset: -1, Msg: fmt.Sprintf(format, args...), Hint: hint, Err: sentinel}
}
