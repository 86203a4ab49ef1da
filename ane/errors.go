package ane

import (
	"errors"
	"strconv"
	"strings"
)

// The kinds of error of a call, for errors.Is.
var (
	// ErrUnavailable: the engine is not available on this machine.
	ErrUnavailable = errors.New("engine not available")
	// ErrClosed: the Device, Model or Request is closed.
	ErrClosed = errors.New("closed")
	// ErrInUse: something that depends on the object is still open.
	ErrInUse = errors.New("in use")
	// ErrNotLoaded: Evaluate or Bind before Load, or after Unload.
	ErrNotLoaded = errors.New("model not loaded")
	// ErrBusy: the Request is already in flight.
	ErrBusy = errors.New("request in flight")
	// ErrDeadline: the context ended before the call did.
	ErrDeadline = errors.New("ended by its context")
	// ErrCompile: the program is refused; the cause lists every fault.
	ErrCompile = errors.New("program refused")
	// ErrShape: a shape that no surface can hold, or an index outside it.
	ErrShape = errors.New("bad shape")
	// ErrType: an element type that the call cannot handle.
	ErrType = errors.New("bad element type")
	// ErrShort: memory shorter than the layout needs.
	ErrShort = errors.New("surface too short")
	// ErrOffset: a tensor that does not start at byte 0 of its surface, for an
	// engine that reads every surface from byte 0.
	ErrOffset = errors.New("tensor at an offset")
	// ErrAligned: memory whose first byte is not aligned to RowAlign.
	ErrAligned = errors.New("misaligned memory")
	// ErrName: a name that the program does not have.
	ErrName = errors.New("no such name")
	// ErrUnbound: an input or output without a tensor.
	ErrUnbound = errors.New("nothing bound")
	// ErrMismatch: a tensor with another layout than the program's.
	ErrMismatch = errors.New("layout differs")
	// ErrAlias: an output that shares bytes with another bound tensor.
	ErrAlias = errors.New("output shares memory")
	// ErrStale: the memory of a tensor is closed, returned or cleared.
	ErrStale = errors.New("memory is gone")
	// ErrReadOnly: a write to memory that must not be written to, or an output on it.
	ErrReadOnly = errors.New("memory is read-only")
	// ErrLength: a slice of the wrong length for a tensor.
	ErrLength = errors.New("wrong length")
	// ErrEngine: the engine itself failed; Domain, Code and the cause have details.
	ErrEngine = errors.New("engine failed")
	// ErrExhausted: the engine has reached a limit: surfaces of this process, the machine's loaded programs, memory, or
	// calls that never returned.
	ErrExhausted = errors.New("limit of the engine reached")
	// ErrCancelled: the engine cancelled the run; the outputs are unchanged, and a
	// retry may succeed.
	ErrCancelled = errors.New("cancelled by the engine")
	// ErrStuck: the engine has not returned from an earlier call on the same Model,
	// which cannot be cancelled.
	ErrStuck = errors.New("an earlier call has not returned")
	// ErrLost: the process of the engine has ended or closed the connection. The
	// caller's objects remain valid; the next call reconnects or starts a process.
	ErrLost = errors.New("connection to the engine lost")
	// ErrDenied: the engine's broker does not allow the call; Detail names the
	// entitlement that is missing.
	ErrDenied = errors.New("not permitted")
	// ErrAttributes: the description of tensors in a compiled program is incomplete,
	// contradictory, or of an unknown form.
	ErrAttributes = errors.New("attributes of the compiled program cannot be used")
	// ErrForeign: an object of another Device or Model.
	ErrForeign = errors.New("belongs to another object")
)

// Error is the one error type of this package and of the engines.
type Error struct {
	Op     string // the call: "compile", "bind", "evaluate"
	Engine string // name of the engine; may be empty
	Name   string // name of the tensor, model or file at fault
	Detail string // what is wrong, with numbers
	Rule   string // the violated rule of the engine; may be empty
	Hint   string // how to fix it
	Domain string // an NSError's domain, on Apple's engine
	Code   int    // an NSError's code
	Err    error  // a sentinel of this package, or the cause
}

// Error returns the text on one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("ane: " + e.Op)
	if e.Engine != "" {
		b.WriteString(" on " + e.Engine)
	}
	if e.Name != "" {
		b.WriteString(": " + e.Name)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	if e.Domain != "" && !strings.Contains(b.String(), e.Domain) { // the cause may contain it
		b.WriteString(" (" + e.Domain + " " + strconv.Itoa(e.Code) + ")")
	}
	if e.Rule != "" {
		b.WriteString(" [" + e.Rule + "]")
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Unwrap returns the sentinel or the cause.
func (e *Error) Unwrap() error { return e.Err }

// because makes its text when it is asked for: a caller may have completed the cause, as a command does with the name of
// a file.
type because struct{ what, cause error }

func (b because) Error() string   { return b.what.Error() + ": " + b.cause.Error() }
func (b because) Unwrap() []error { return []error{b.what, b.cause} }

// Because returns an error that matches what and cause and prints as "what: cause". If
// cause is nil, it returns what.
func Because(what, cause error) error {
	if cause == nil {
		return what
	}
	return because{what, cause}
}

// Deadline returns the error of a call ended by its context. It matches ErrDeadline
// and cause, the context's error.
func Deadline(op, engine string, cause error) error {
	return &Error{Op: op, Engine: engine, Err: Because(ErrDeadline, cause)}
}
