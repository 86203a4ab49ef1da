package wire

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// SetPatience makes Receive return ErrTimeout when no frame came for d, and Send when the
// peer left no room for d, so that who waits can look at a context in between; 0 waits for
// ever, as a new Conn does. It applies to the next calls and costs each 0.05 us. Nothing is
// lost by a Receive that timed out, and nothing was sent by a Send that did.
func (c *Conn) SetPatience(d time.Duration) error {
	d = max(d, 0)
	if d > 0 {
		d = max(d, time.Microsecond) // or the system would take it for 0
	}
	return c.Control(func(fd int) error {
		v := unix.NsecToTimeval(d.Nanoseconds())
		for _, option := range []int{unix.SO_RCVTIMEO, unix.SO_SNDTIMEO} {
			if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, option, &v); err != nil {
				return socketError("patience", "setsockopt(SO_RCVTIMEO, SO_SNDTIMEO)", err)
			}
		}
		c.patience.Store(int64(d))
		return nil
	})
}

// again returns nil when the call that failed is to be made again.
func (s *socket) again(op, call string, event int16, errno unix.Errno) error {
	switch {
	case s.users.over():
		return closed(op)
	case errno == unix.EINTR:
		return nil
	case errno == unix.EAGAIN:
		return s.wait(op, event)
	case errno == unix.EBADF: // one of those passed: the socket itself is open
		return &Error{Op: op, Err: ErrDescriptors, Cause: errno, Hint: "pass open descriptors"}
	case errno == unix.ETOOMANYREFS:
		return &Error{Op: op, Err: ErrDescriptors, Cause: errno, Hint: "too many descriptors are under way: the peer does not receive them"}
	}
	return socketError(op, call, errno)
}

// wait answers EAGAIN: of a socket that somebody else who has it set to non-blocking mode,
// which takes a poll, or of one that lost its patience.
func (s *socket) wait(op string, event int16) error {
	limit := -1
	if d := s.patience.Load(); d > 0 {
		mode, err := unix.FcntlInt(uintptr(s.fd), unix.F_GETFL, 0)
		if err == nil && mode&unix.O_NONBLOCK == 0 {
			return errTimeout
		}
		limit = int((time.Duration(d) + time.Millisecond - 1) / time.Millisecond)
	}
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(s.fd), Events: event}}, limit)
	switch {
	case err == nil && n == 0:
		return errTimeout
	case err != nil && !errors.Is(err, unix.EINTR):
		return socketError(op, "poll", err)
	}
	return nil
}
