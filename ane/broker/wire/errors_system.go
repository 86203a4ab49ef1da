package wire

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/anekit/anekit/ane"
)

// socketError tells a peer that has gone from other refusals of the system.
func socketError(op, call string, err error) error {
	e := &Error{Op: op, Err: ErrSocket, Cause: fmt.Errorf("%s: %w", call, err)}
	switch {
	case errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.ENOTCONN):
		e.Err, e.Hint = ErrClosed, "the peer has gone: connect again"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		e.Hint = "raise the limit on open files (ulimit -n)"
	case errors.Is(err, syscall.EMSGSIZE):
		e.Err, e.Hint = ErrLong, "the socket's buffer is smaller than a frame: raise net.core.wmem_default"
	}
	return e
}

// closed is the error of a call after Close.
func closed(op string) error {
	return &Error{Op: op, Err: ErrClosed, Detail: "this end was closed"}
}

// unsupported is the error of what this system lacks.
func unsupported(op string) error {
	return &Error{Op: op, Err: ErrUnsupported, Cause: ane.ErrUnavailable, Hint: "run it on Linux"}
}

// errTimeout is one value, because who waits meets it often.
var errTimeout error = &Error{Op: "wait", Err: ErrTimeout}
