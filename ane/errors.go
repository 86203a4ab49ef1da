package ane

import (
	"errors"
	"strconv"
	"strings"
)

// What can be wrong with a call, for errors.Is.
var (
	// ErrUnavailable: the engine cannot be had on this machine.
	ErrUnavailable = errors.New("engine not available")
	// ErrClosed: the Device, Model or Request was closed before.
	ErrClosed = errors.New("closed")
	// ErrInUse: something that depends on the object is still open.
	ErrInUse = errors.New("in use")
	// ErrNotLoaded: Evaluate or Bind before Load, or after Unload.
	ErrNotLoaded = errors.New("model not loaded")
	// ErrBusy: the Request is being evaluated already.
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
	// ErrMismatch: a tensor laid out otherwise than the program demands.
	ErrMismatch = errors.New("layout differs")
	// ErrAlias: an output that shares bytes with another bound tensor.
	ErrAlias = errors.New("output shares memory")
	// ErrStale: the memory behind a tensor is gone.
	ErrStale = errors.New("memory is gone")
	// ErrLength: a slice of the wrong length for a tensor.
	ErrLength = errors.New("wrong length")
	// ErrEngine: the engine itself failed; Domain, Code and the cause say how.
	ErrEngine = errors.New("engine failed")
	// ErrExhausted: this process has used up what the engine grants one process:
	// compiles, loaded programs, surfaces, memory, or calls that never came back.
	ErrExhausted = errors.New("limit of the process reached")
	// ErrCancelled: the engine gave the run up before it was done; the outputs are
	// unchanged, and the same call may succeed.
	ErrCancelled = errors.New("cancelled by the engine")
	// ErrStuck: an earlier call on the same Model has not come back from the
	// engine, and cannot be cancelled.
	ErrStuck = errors.New("an earlier call has not come back")
	// ErrLost: the process that the engine runs in has gone or cut the connection.
	// Nothing that the caller holds is lost; the next call starts or finds another.
	ErrLost = errors.New("connection to the engine lost")
	// ErrDenied: the engine's broker does not allow the call; Detail names the
	// entitlement that is missing.
	ErrDenied = errors.New("not permitted")
	// ErrAttributes: what a compiled program says of its tensors is incomplete,
	// contradicts itself, or is of a form that anekit does not know.
	ErrAttributes = errors.New("attributes of the compiled program cannot be used")
	// ErrForeign: an object of another Device or Model.
	ErrForeign = errors.New("belongs to another object")
)

// Error is the one error type of this package and of the engines.
type Error struct {
	Op     string // the call: "compile", "bind", "evaluate"
	Engine string // the engine's name, where one was involved
	Name   string // the tensor, model or file it is about
	Detail string // what is wrong, with the numbers
	Rule   string // the engine's rule that was broken, where there is one
	Hint   string // what to do next
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
	if e.Domain != "" && !strings.Contains(b.String(), e.Domain) { // the cause may have said it
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

// because is what went wrong together with its cause, on one line; both answer to
// errors.Is and errors.As.
type because struct{ what, cause error }

func (b because) Error() string   { return b.what.Error() + ": " + b.cause.Error() }
func (b because) Unwrap() []error { return []error{b.what, b.cause} }

// Because returns an error that matches what and cause and prints as one line,
// "what: cause". Without a cause it is what.
func Because(what, cause error) error {
	if cause == nil {
		return what
	}
	return because{what, cause}
}

// Deadline returns the error of a call that its context ended: it matches
// ErrDeadline and cause, which is the context's error.
func Deadline(op, engine string, cause error) error {
	return &Error{Op: op, Engine: engine, Err: because{ErrDeadline, cause}}
}
