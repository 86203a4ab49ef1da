package wasm

import (
	"context"
	"errors"
	"strconv"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/unimem"
	linear "github.com/anekit/anekit/unimem/wasm"
)

// Code is what a function of the module anekit returns to the guest: 0 or a positive number for success, a negative one
// of these for an error. The numbers do not change.
type Code int32

// The codes of errors.
const (
	CodeEngine      Code = -1  // the engine failed
	CodeName        Code = -2  // no such program, input or output
	CodeBounds      Code = -3  // a range outside of the guest's memory
	CodeAligned     Code = -4  // a pointer or length that is not a multiple of alignment()
	CodeShort       Code = -5  // a range shorter than the tensor
	CodeLimit       Code = -6  // beyond Limits
	CodeHandle      Code = -7  // a handle that is not open, or of another kind
	CodeCompile     Code = -8  // a program that is refused
	CodeMismatch    Code = -9  // a tensor of another layout, or an output that shares bytes with another tensor
	CodeUnbound     Code = -10 // an input or output without a range
	CodeBusy        Code = -11 // the request is in flight, or wait without start
	CodeDeadline    Code = -12 // the time of the call is over
	CodeFull        Code = -13 // the cache is full
	CodeArgument    Code = -14 // a number that the call cannot use
	CodeUnsupported Code = -15 // this host or system cannot do it
	CodeOverlap     Code = -16 // a range that shares pages with another surface
	CodeClosed      Code = -17 // an object that is closed
	CodeExhausted   Code = -18 // the system or the engine has no more memory, programs or surfaces for now
)

// Error returns the constant's name in lower case.
func (c Code) Error() string {
	names := [...]string{"engine", "name", "bounds", "aligned", "short", "limit", "handle", "compile", "mismatch", "unbound",
		"busy", "deadline", "full", "argument", "unsupported", "overlap", "closed", "exhausted"}
	if i := -1 - int(c); i >= 0 && i < len(names) {
		return "code " + names[i]
	}
	return "code " + strconv.Itoa(int(c))
}

// codeOf returns the Code that an error wraps, or the one that fits an error of the packages ane, ane/kv, unimem and
// unimem/wasm. Another error is CodeEngine.
func codeOf(err error) Code {
	var code Code
	if errors.As(err, &code) {
		return code
	}
	for _, row := range [...]struct {
		kind error
		code Code
	}{
		{ane.ErrDeadline, CodeDeadline}, {context.DeadlineExceeded, CodeDeadline}, {context.Canceled, CodeDeadline},
		{linear.ErrBounds, CodeBounds}, {linear.ErrAligned, CodeAligned}, {linear.ErrOverlap, CodeOverlap},
		{linear.ErrUnsupported, CodeUnsupported}, {linear.ErrLimit, CodeLimit}, {linear.ErrClosed, CodeClosed},
		{ane.ErrExhausted, CodeExhausted}, {unimem.ErrExhausted, CodeExhausted}, {ane.ErrCompile, CodeCompile},
		{ane.ErrName, CodeName}, {ane.ErrUnbound, CodeUnbound}, {ane.ErrAligned, CodeAligned},
		{ane.ErrOffset, CodeAligned}, {ane.ErrShort, CodeShort}, {ane.ErrMismatch, CodeMismatch},
		{ane.ErrAlias, CodeMismatch}, {ane.ErrBusy, CodeBusy}, {ane.ErrClosed, CodeClosed}, {ane.ErrStale, CodeClosed},
		{kv.ErrFull, CodeFull}, {kv.ErrLayer, CodeArgument}, {kv.ErrSize, CodeArgument}, {kv.ErrOrder, CodeArgument},
		{kv.ErrClosed, CodeClosed}, {kv.ErrInUse, CodeBusy}, {ane.ErrShape, CodeArgument},
		{errors.ErrUnsupported, CodeUnsupported},
	} {
		if errors.Is(err, row.kind) {
			return row.code
		}
	}
	return CodeEngine
}

// The kinds of error of calls of this package, for errors.Is.
var (
	// ErrCode: a binary that is not WebAssembly, or that has a forbidden import or lacks a required export.
	ErrCode = errors.New("guest cannot be used")
	// ErrExport: a function that the guest does not export, or that has other parameters.
	ErrExport = errors.New("no such export")
	// ErrTrap: the guest trapped. It takes no further calls.
	ErrTrap = errors.New("guest trapped")
	// ErrExit: the guest ended itself. It takes no further calls.
	ErrExit = errors.New("guest exited")
	// ErrTime: a call took longer than Limits.Time, or its context ended. The guest takes no further calls.
	ErrTime = errors.New("guest was stopped")
	// ErrLimit: a guest beyond Limits.
	ErrLimit = errors.New("beyond the guest's limits")
	// ErrClosed: use after Close.
	ErrClosed = errors.New("closed")
	// ErrInUse: Close while something that depends on the object is open.
	ErrInUse = errors.New("in use")
)

// Error is the error type of this package.
type Error struct {
	errtext.Base // the fields Op (the call, or the function that the guest called), Err (one of the kinds, or a Code),
	// Detail, Cause (the error below) and Hint
	Name string // the export, program or tensor at fault; may be empty
	Exit uint32 // the status of ErrExit
}

// newError returns an Error without a cause; detail and hint may be empty.
func newError(op string, kind error, detail, hint string) *Error {
	return &Error{Base: errtext.Base{Op: op, Err: kind, Detail: detail, Hint: hint}}
}

// Error returns the text on one line.
func (e *Error) Error() string {
	call := "guest: " + e.Op
	if e.Name != "" {
		call += " " + strconv.Quote(e.Name)
	}
	return e.Line(call)
}
