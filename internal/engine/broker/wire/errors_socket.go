//go:build linux || darwin

package wire

import (
	"errors"
	"fmt"
	"syscall"
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
