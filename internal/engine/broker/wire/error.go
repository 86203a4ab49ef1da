package wire

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane"
)

// Causes of a refusal at this end.
var (
	ErrClosed  = errors.New("connection closed") // the peer has gone, or this end was closed
	ErrSocket  = errors.New("socket refused")    // by the system, for the cause given; the Conn may still work
	ErrTimeout = errors.New("out of patience")   // no frame came, or left, for as long as SetPatience allows

	ErrMagic       = errors.New("not a frame")       // a packet that is none
	ErrVersion     = errors.New("other version")     // a frame of another version
	ErrKind        = errors.New("unknown kind")      // one that this version does not have, or not here
	ErrDescriptors = errors.New("wrong descriptors") // too many, or not those that the frame needs
	ErrSeal        = errors.New("not sealed")        // a descriptor without the seals that keep its bytes in place

	ErrShort    = errors.New("truncated")          // bytes end before the field does
	ErrLong     = errors.New("too long")           // more bytes or items than the limit
	ErrTrailing = errors.New("trailing bytes")     // bytes after the last field
	ErrOrder    = errors.New("field out of place") // or of another type
	ErrValue    = errors.New("value out of range") // one that the field cannot have
)

// State is where a request stood when it failed, which decides what its caller may do
// next. It is an error, so that errors.Is(err, Lost) asks for it.
type State uint8

// States of a failed request.
const (
	// Refused: this end, or the system, refused a frame, a payload or a call. Nothing is
	// in flight.
	Refused State = iota
	// Answered: the broker answered with a fault. The request has ended.
	Answered
	// Unsent: the connection ended before the broker took the request, which may be sent
	// to the next broker.
	Unsent
	// Lost: the connection ended while the request was in flight.
	Lost
	// InFlight: the caller's context ended first. The request is in flight, and what it is
	// about stays taken until the answer.
	InFlight
)

var stateNames = [...]string{"refused", "answered with a fault", "not sent", "lost", "in flight"}

// Error names the state.
func (s State) Error() string { return stateNames[s] }

// Error is the one error type of a connection, for both of its ends.
type Error struct {
	State  State
	Op     string // "send", "receive", "parse", ..
	Kind   Kind   // of the frame, 0 where none is known
	Field  string // of the payload or header
	At     int    // byte of the payload at which the field begins
	Detail string // with the numbers; of an answer, the broker's words
	Hint   string
	Err    error // a sentinel of this package; of an answer, the first that it matches
	Cause  error // what the system said, or why the connection or the context ended; may be nil
	// Entitlement is the one that a denied client lacks, "" where none was missing.
	Entitlement string

	also []error // that an answer matches as well
}

// Error returns the text on one line.
func (e *Error) Error() string {
	switch {
	case e.State == Answered && (e.Detail != "" || e.Err == nil):
		return e.Detail
	case e.State == Answered:
		return e.Err.Error()
	case e.State != Refused:
		return e.Cause.Error()
	}
	var s strings.Builder
	s.WriteString("wire: " + e.Op)
	if e.Kind != 0 {
		s.WriteString(" " + e.Kind.String())
	}
	if e.Field != "" {
		fmt.Fprintf(&s, ": %s at byte %d", e.Field, e.At)
	}
	s.WriteString(": " + e.Err.Error())
	if e.Detail != "" {
		s.WriteString(": " + e.Detail)
	}
	if e.Cause != nil {
		s.WriteString(": " + e.Cause.Error())
	}
	if e.Hint != "" {
		s.WriteString("; " + e.Hint)
	}
	return s.String()
}

// Is matches the State and the sentinel without allocating, for callers that wait in
// slices of time.
func (e *Error) Is(target error) bool {
	if s, ok := target.(State); ok {
		return e.State == s
	}
	return e.Err == target
}

// Unwrap returns what else the error matches.
func (e *Error) Unwrap() []error {
	var all []error
	for _, err := range append([]error{e.Err, e.Cause}, e.also...) {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

// Denied is the fault of a client that lacks an entitlement. It matches ane.ErrDenied.
func Denied(entitlement string) *Error {
	return &Error{State: Answered, Detail: ane.ErrDenied.Error() + ": " + entitlement, Err: ane.ErrDenied,
		Entitlement: entitlement}
}

// closed is the error of a call after Close.
func closed(op string) error {
	return &Error{Op: op, Err: ErrClosed, Detail: "this end was closed"}
}

// errTimeout is one value: a waiting caller gets it often.
var errTimeout error = &Error{Op: "wait", Err: ErrTimeout}

// sentinels are the errors that a Fault names by number: the place in this table, where 0
// is none. A number keeps its meaning within a Version.
var sentinels = [...]error{
	nil,
	ane.ErrUnavailable, ane.ErrClosed, ane.ErrInUse, ane.ErrNotLoaded, ane.ErrBusy, ane.ErrDeadline,
	ane.ErrCompile, ane.ErrShape, ane.ErrType, ane.ErrShort, ane.ErrOffset, ane.ErrAligned, ane.ErrName,
	ane.ErrUnbound, ane.ErrMismatch, ane.ErrAlias, ane.ErrStale, ane.ErrLength, ane.ErrEngine,
	ane.ErrExhausted, ane.ErrStuck, ane.ErrLost, ane.ErrDenied, ane.ErrForeign,
	context.Canceled, context.DeadlineExceeded,
	ane.ErrCancelled, ane.ErrAttributes, ane.ErrReadOnly,
}

// codes are the numbers of all sentinels that err matches.
func codes(err error) []uint32 {
	var found []uint32
	for n := 1; n < len(sentinels); n++ {
		if errors.Is(err, sentinels[n]) {
			found = append(found, uint32(n))
		}
	}
	return found
}

// sentinel is the error of a number, nil for 0 and for those of a later version.
func sentinel(code uint32) error {
	if code >= uint32(len(sentinels)) {
		return nil
	}
	return sentinels[code]
}
