package coreml

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane/mil"
)

// The kinds of fault, for errors.Is.
var (
	ErrFormat    = errors.New("not a Core ML model that can be read")
	ErrKind      = errors.New("a kind of model without a program")
	ErrEncrypted = errors.New("the model is encrypted")
	ErrPart      = errors.New("no such part")
	ErrShape     = errors.New("no input takes the shape")
)

// Error is why a model cannot be opened, or a part of it not be found.
type Error struct {
	File   string
	Offset int64  // byte of the file at fault; -1 if none
	Msg    string // what is wrong
	Hint   string // how to fix it; may be empty
	Err    error  // one of the errors above, or one of the system
	Cause  error  // a mil.ErrorList of a program that is no valid MIL; else nil
}

// Error returns FILE: byte N: what is wrong; how to fix it.
func (e *Error) Error() string {
	text := e.Msg
	if e.Offset >= 0 {
		text = fmt.Sprintf("byte %d: %s", e.Offset, text)
	}
	return (&mil.Error{File: e.File, Msg: text, Hint: e.Hint}).Error()
}

// Unwrap returns Err and Cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Cause}
}

// refused returns the error of a model as a whole.
func refused(file string, err error, hint, format string, args ...any) *Error {
	return &Error{File: file, Offset: -1, Msg: fmt.Sprintf(format, args...), Hint: hint, Err: err}
}
