package wire

import (
	"errors"
	"fmt"
	"strings"
)

// A connection.
var (
	// ErrClosed: the peer has gone, or the Conn was closed.
	ErrClosed = errors.New("connection closed")
	// ErrSocket: the system refused a call; the cause says why. The Conn may still work.
	ErrSocket = errors.New("socket refused")
	// ErrTimeout: no frame came, or left, for as long as SetPatience allows. The Conn works on.
	ErrTimeout = errors.New("out of patience")
	// ErrUnsupported: this system lacks what the call needs. Such errors match
	// ane.ErrUnavailable too.
	ErrUnsupported = errors.New("not on this system")
)

// A frame.
var (
	// ErrMagic: a packet that is no frame.
	ErrMagic = errors.New("not a frame")
	// ErrVersion: a frame of another version.
	ErrVersion = errors.New("other version")
	// ErrKind: a kind that this version does not have, or not here.
	ErrKind = errors.New("unknown kind")
	// ErrDescriptors: too many descriptors, or not those that the frame needs.
	ErrDescriptors = errors.New("wrong descriptors")
	// ErrSeal: a descriptor without the seals that keep its bytes in place.
	ErrSeal = errors.New("not sealed")
)

// A frame or a payload.
var (
	// ErrShort: bytes end before the field does.
	ErrShort = errors.New("truncated")
	// ErrLong: more bytes or items than the limit.
	ErrLong = errors.New("too long")
	// ErrTrailing: bytes behind the last field.
	ErrTrailing = errors.New("trailing bytes")
	// ErrOrder: a field out of its place, or of another type.
	ErrOrder = errors.New("field out of place")
	// ErrValue: a value that the field cannot have.
	ErrValue = errors.New("value out of range")
)

// Error is the one error type of this package.
type Error struct {
	Op     string // "send", "receive", "parse", ..
	Kind   Kind   // of the frame, 0 where none is known
	Field  string // of the payload or header
	At     int    // byte of the payload at which the field begins
	Detail string // with the numbers
	Hint   string
	Err    error // a sentinel of this package
	Cause  error // what the system said, or nil
}

// Error returns the text on one line.
func (e *Error) Error() string {
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

// Is makes errors.Is match the sentinel without allocating, for those who wait in slices.
func (e *Error) Is(target error) bool { return e.Err == target }

// Unwrap makes errors.Is match the sentinel as well as the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Cause}
}

// closed is the error of a call after Close.
func closed(op string) error {
	return &Error{Op: op, Err: ErrClosed, Detail: "this end was closed"}
}

// errTimeout is one value, because who waits meets it often.
var errTimeout error = &Error{Op: "wait", Err: ErrTimeout}
