//go:build !macrules

package wire

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// socket is a descriptor in blocking mode. Close wakes its callers by shutting the
// connection down, and the last call inside gives the descriptor back.
//
// Waiting blocks a thread and leaves the runtime's poller alone. Of a round trip of 64 bytes
// between two processes on a machine of 2 cores, the median was 5 us so, 11 to 70 us over
// the poller, 10 to 15 us when looking 20 times before blocking (the two processes share a
// core as long as neither spins), unchanged with the goroutines locked to their threads, and
// 10 to 60 us when a goroutine received and handed over by a channel: a caller that waits for
// an answer should call Receive itself. Bare calls on such a socket took 4.5 us and on eventfds
// 3 us. The benchmarks PingPong* measure it.
type socket struct {
	fd       int
	users    users
	patience atomic.Int64 // in nanoseconds; 0 is endless
	sending  sending
	incoming incoming
}

// Close ends every call on the Conn, here with ErrClosed, at the other end once it has
// read what was sent before. Repeating it returns nil.
func (c *Conn) Close() error {
	if c != nil && c.users.close() {
		_ = unix.Shutdown(c.fd, unix.SHUT_RDWR) // fails only if the peer has gone
		c.leave()
	}
	return nil
}

// End is Close for a caller that must not wait: the descriptor stays open until Close, which has to follow, since
// closing a socket closes the descriptors that were sent over it and not received.
func (c *Conn) End() {
	if c == nil || !c.users.enter() {
		return
	}
	c.users.end()
	_ = unix.Shutdown(c.fd, unix.SHUT_RDWR) // fails only if the peer has gone
	if c.users.leave() {                    // Close was called since
		go closeForeign(c.fd)
	}
}

func (s *socket) leave() {
	if s.users.leave() {
		closeForeign(s.fd)
	}
}

// closeTime is what closing a descriptor of another process may take before a signal hurries it.
const closeTime = 20 * time.Millisecond

// closeForeign closes a descriptor that another process made, or over which another process has sent some. That may
// wait for as long as that process likes, as for a TCP socket that lingers. A signal to the thread ends such a wait;
// not that for a file system that does not answer.
func closeForeign(fd int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	process, thread := unix.Getpid(), unix.Gettid()
	late := time.AfterFunc(closeTime, func() {
		_ = unix.Tgkill(process, thread, unix.SIGURG) // which the Go runtime uses itself, and expects at any time
	})
	defer late.Stop()
	_ = unix.Close(fd) // no caller could do anything about it, and a number that is not open is no leak
}

func (s *socket) control(f func(fd int) error) error {
	if !s.users.enter() {
		return closed("control")
	}
	defer s.leave()
	return f(s.fd)
}

// Close closes each descriptor.
func (d Descriptors) Close() {
	for _, fd := range d {
		closeForeign(fd)
	}
}

// NewConn makes a Conn of a connected Unix socket of type SOCK_SEQPACKET. The descriptor is
// the Conn's from now on, and is closed if NewConn fails. Errors: ErrSocket.
func NewConn(fd int) (*Conn, error) {
	if err := prepare(fd); err != nil {
		_ = unix.Close(fd) // the first failure is the one to report
		return nil, err
	}
	c := &Conn{}
	c.fd = fd
	c.users.open()
	return c, nil
}

func prepare(fd int) error {
	const op = "open"
	for _, want := range []struct {
		option, value int
		name          string
	}{
		{unix.SO_DOMAIN, unix.AF_UNIX, "SO_DOMAIN"},
		{unix.SO_TYPE, unix.SOCK_SEQPACKET, "SO_TYPE"},
		{unix.SO_ACCEPTCONN, 0, "SO_ACCEPTCONN"},
	} {
		got, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, want.option)
		if err != nil {
			return socketError(op, "getsockopt("+want.name+")", err)
		}
		if got != want.value {
			return &Error{Op: op, Err: ErrSocket, Detail: fmt.Sprintf("%s is %d, not %d", want.name, got, want.value),
				Hint: "pass a connected Unix socket of type SOCK_SEQPACKET"}
		}
	}
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, false); err != nil {
		return socketError(op, "fcntl(F_SETFL)", err)
	}
	return nil
}

// SetPatience makes Receive return ErrTimeout when no frame came for d, and Send when the
// peer left no room for d, so that a waiting caller can check a context in between; 0 waits for
// ever, as a new Conn does. It applies to the next calls and costs each 0.05 us. Nothing is
// lost by a Receive that timed out, and nothing was sent by a Send that did.
func (c *Conn) SetPatience(d time.Duration) error {
	d = max(d, 0)
	return c.Control(func(fd int) error {
		v := unix.NsecToTimeval(d.Nanoseconds()) // rounds up to 1 us, so that only 0 is 0
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
		return &Error{Op: op, Err: ErrDescriptors, Cause: errno,
			Hint: "too many descriptors are under way: the peer does not receive them"}
	}
	return socketError(op, call, errno)
}

// wait answers EAGAIN: of a socket that another process set to non-blocking mode,
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

// socketError tells a peer that has gone from other refusals of the system.
func socketError(op, call string, err error) error {
	e := &Error{Op: op, Err: ErrSocket, Cause: fmt.Errorf("%s: %w", call, err)}
	switch {
	case errors.Is(err, unix.EPIPE), errors.Is(err, unix.ECONNRESET), errors.Is(err, unix.ENOTCONN):
		e.Err, e.Hint = ErrClosed, "the peer has gone: connect again"
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		e.Hint = "raise the limit on open files (ulimit -n)"
	case errors.Is(err, unix.EMSGSIZE):
		e.Err, e.Hint = ErrLong, "the socket's buffer is smaller than a frame: raise net.core.wmem_default"
	}
	return e
}
