package hal

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/errtext"
)

// The kinds of error of this package, for errors.Is. Errors of packages ane and unimem keep their own kinds.
var (
	// ErrBackwards: a Signal below the value of the Semaphore.
	ErrBackwards = errors.New("value is below that of the semaphore")
	// ErrFailed: the Semaphore has failed, or the submission that would signal it.
	ErrFailed = errors.New("failed")
	// ErrClosed: the object is closed, nil or zero, or its memory is not present. It matches ane.ErrClosed.
	ErrClosed = fmt.Errorf("%w", ane.ErrClosed)
	// ErrInUse: a pending submission names the object. It matches ane.ErrInUse.
	ErrInUse = fmt.Errorf("%w", ane.ErrInUse)
	// ErrOutOfRange: a Range outside of its Buffer, lengths that differ, or a number that the call cannot use.
	ErrOutOfRange = errors.New("out of range")
	// ErrOverlap: a Copy whose source and destination share a byte.
	ErrOverlap = errors.New("ranges overlap")
	// ErrPattern: a pattern that does not have 1, 2 or 4 bytes.
	ErrPattern = errors.New("pattern does not have 1, 2 or 4 bytes")
	// ErrMode: a CommandBuffer that cannot be executed now.
	ErrMode = errors.New("command buffer cannot be executed")
	// ErrCycle: a submission that waits for itself, by way of others.
	ErrCycle = errors.New("submissions wait for each other")
)

// Error is the error of a call of this package, unless a CommandError, a CycleError or an error of package ane or
// unimem says more.
type Error struct {
	errtext.Base // the fields Op, Err (one of the kinds, or the cause), Detail, Cause and Hint
}

// newError returns an Error without a cause; detail and hint may be empty.
func newError(op string, kind error, detail, hint string) *Error {
	return &Error{Base: errtext.Base{Op: op, Err: kind, Detail: detail, Hint: hint}}
}

// Error returns the text on one line.
func (e *Error) Error() string { return e.Line("hal: " + e.Op) }

// CommandError is a command that End refuses.
type CommandError struct {
	Command int    // number of the command, counted from 0 as recorded; barriers count too
	Op      string // "fill", "copy", "update", "dispatch" or "barrier"
	Err     error
}

// Error returns the text on one line.
func (e *CommandError) Error() string {
	if e == nil {
		return "hal: no command"
	}
	return fmt.Sprintf("hal: command %d: %s%s", e.Command, e.Op, reason(e.Err))
}

// reason returns the text of a command's error on one line, without the call that an Error names: the command names it.
func reason(err error) string {
	switch e := err.(type) { //nolint:errorlint // what a wrapped error says stays
	case *Error:
		return e.Line("")
	case interface{ Line(call string) string }: // an error of another package, with causes of its own
	case interface{ Unwrap() []error }:
		var all []string
		for _, one := range e.Unwrap() {
			all = append(all, strings.TrimPrefix(reason(one), ": "))
		}
		return ": " + strings.Join(all, "; ")
	}
	return fmt.Sprintf(": %v", err)
}

// Unwrap returns the reason.
func (e *CommandError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// CycleError matches ErrCycle. It has the points of the cycle: each submission signals one and awaits the next; the
// last one is signaled by the submission that awaits the first.
type CycleError struct{ Points []Point }

// Error returns the text on one line.
func (e *CycleError) Error() string {
	if e == nil {
		return "hal: no cycle"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "hal: execute: %v:", ErrCycle)
	for i, p := range e.Points {
		if i > 0 {
			b.WriteString(" after")
		}
		fmt.Fprintf(&b, " value %d of semaphore %p", p.Value, p.Semaphore)
	}
	b.WriteString("; let one of the submissions wait for another point")
	return b.String()
}

// Unwrap returns ErrCycle.
func (e *CycleError) Unwrap() error { return ErrCycle }

// failure is the error of a failed Semaphore. It matches ErrFailed and the cause.
type failure struct{ cause error }

func (f *failure) Error() string {
	if f.cause == nil {
		return "hal: semaphore failed"
	}
	return "hal: semaphore failed: " + strings.ReplaceAll(strings.TrimPrefix(f.cause.Error(), "hal: "), "\n", "; ")
}

func (f *failure) Unwrap() []error {
	if f.cause == nil {
		return []error{ErrFailed}
	}
	return []error{ErrFailed, f.cause}
}

// asFailure returns a failure with this cause: cause itself if it is one, so that a long chain of submissions does not
// grow the error.
func asFailure(cause error) *failure {
	if f, ok := cause.(*failure); ok && f != nil { //nolint:errorlint // a wrapped failure keeps its wrapping
		return f
	}
	return &failure{cause}
}

// closed returns the error of a call on a closed, nil or zero object.
func closed(op, what, hint string) error {
	return newError(op, ErrClosed, what, hint)
}

// inUse returns the error of a Close while a submission is pending.
func inUse(what string) error {
	return newError("close", ErrInUse, "a pending submission names the "+what, "wait for its signals first")
}

// given returns ctx, or for nil a context that never ends.
func given(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
