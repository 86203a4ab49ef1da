//go:build !macrules

package wire

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// socket is a descriptor in blocking mode. Close wakes its callers by shutting the
// connection down, and the last call inside gives the descriptor back.
//
// Waiting blocks a thread and leaves the runtime's poller alone. The median round trip of 64 bytes between two
// processes on 2 cores was 5 us, with or without goroutines locked to their threads. The poller took 11 to 70 us.
// Polling 20 times before blocking took 10 to 15 us: the two processes share a core as long as neither spins. A
// goroutine that received and handed over by a channel took 10 to 60 us, so a caller that waits for an answer should
// call Receive itself. Bare calls on such a socket took 4.5 us and on eventfds 3 us. The benchmarks PingPong* measure
// it.
type socket struct {
	fd int
	users
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

func (s *socket) leave() {
	if s.users.leave() {
		_ = unix.Close(s.fd) // no caller could do anything about it
	}
}

// Control lends the socket's descriptor to f, which does not keep it, for what a Conn has
// no call for. ErrClosed after Close, otherwise what f returns.
func (c *Conn) Control(f func(fd int) error) error {
	if !c.enter() {
		return closed("control")
	}
	defer c.leave()
	return f(c.fd)
}

// Close closes each descriptor.
func (d Descriptors) Close() {
	for _, fd := range d {
		_ = unix.Close(fd) // a number that is not open is no leak
	}
}

// NewConn makes a Conn of a connected Unix socket of type SOCK_SEQPACKET. The descriptor is
// the Conn's from now on, and is closed if NewConn fails. Errors: ErrSocket.
func NewConn(fd int) (*Conn, error) {
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, false); err != nil {
		_ = unix.Close(fd) // the first failure is the one to report
		return nil, socketError("open", "fcntl(F_SETFL)", err)
	}
	c := &Conn{}
	c.fd = fd
	c.open()
	return c, nil
}

// FromUnix makes a Conn of a *net.UnixConn, accepted or dialled as "unixpacket", and closes that: the Conn has a
// descriptor of its own. Errors: those of the system, and of NewConn.
func FromUnix(u interface {
	syscall.Conn
	io.Closer
}) (*Conn, error) {
	defer u.Close()
	raw, err := u.SyscallConn()
	if err != nil {
		return nil, err
	}
	var fd int
	var dup error
	err = raw.Control(func(s uintptr) { fd, dup = unix.FcntlInt(s, unix.F_DUPFD_CLOEXEC, 0) })
	if err = errors.Join(err, dup); err != nil {
		return nil, err
	}
	return NewConn(fd)
}

// SetPatience makes Receive return ErrTimeout if no frame comes within receive, and Send if the peer leaves no room
// within send. 0 waits for ever, as a new Conn does. It applies to the next calls and costs each 0.05 us. Nothing is
// lost by a Receive that timed out, and nothing was sent by a Send that did.
func (c *Conn) SetPatience(receive, send time.Duration) error {
	return c.Control(func(fd int) error {
		for option, d := range map[int]time.Duration{unix.SO_RCVTIMEO: receive, unix.SO_SNDTIMEO: send} {
			v := unix.NsecToTimeval(max(d, 0).Nanoseconds()) // rounds up to 1 us, so that only 0 is 0
			if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, option, &v); err != nil {
				return socketError("patience", "setsockopt(SO_RCVTIMEO, SO_SNDTIMEO)", err)
			}
		}
		return nil
	})
}

// smallFrame is beyond every frame of an evaluation: a frame that is no longer is put together on the stack.
const smallFrame = 256

// send sends one frame whole or not at all.
func (s *socket) send(f *Frame, fds []int) error {
	const op = "send"
	if !s.enter() {
		return closed(op)
	}
	defer s.leave()
	var small [smallFrame]byte
	packet := f.Append(small[:0])
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	for {
		_, err := unix.SendmsgN(s.fd, packet, rights, nil, unix.MSG_NOSIGNAL)
		if err == nil {
			return nil
		}
		if err = s.again(op, "sendmsg", err); err != nil {
			return err
		}
	}
}

// rightsSize is room for the descriptors of one frame: a header and an int each.
const rightsSize = unix.SizeofCmsghdr + 4*MaxDescriptors

// receive takes one packet. On an error no descriptor is left open.
func (s *socket) receive(buf []byte) (int, Descriptors, error) {
	const op = "receive"
	if len(buf) < HeaderSize {
		return 0, nil, &Error{Op: op, Err: ErrShort, Detail: fmt.Sprintf("a buffer of %d bytes", len(buf)),
			Hint: "pass MaxFrame bytes"}
	}
	if !s.enter() {
		return 0, nil, closed(op)
	}
	defer s.leave()
	var rights [rightsSize]byte // more of them do not fit, and the system says so
	for {
		n, used, flags, _, err := unix.Recvmsg(s.fd, buf, rights[:], unix.MSG_CMSG_CLOEXEC)
		if err != nil {
			if err = s.again(op, "recvmsg", err); err != nil {
				return 0, nil, err
			}
			continue
		}
		fds, err := descriptors(slices.Clone(rights[:used]))
		switch {
		case err != nil:
		case flags&unix.MSG_CTRUNC != 0:
			err = &Error{Op: op, Err: ErrDescriptors,
				Detail: fmt.Sprintf("more than %d beside a frame, or more than this process may open", MaxDescriptors),
				Hint:   "send fewer, or raise the limit on open files (ulimit -n)"}
		case flags&unix.MSG_TRUNC != 0:
			err = &Error{Op: op, Err: ErrLong, Detail: "packet longer than the buffer", Hint: "pass MaxFrame bytes"}
		case n == 0 && s.over():
			err = closed(op)
		case n == 0: // a packet of no bytes looks the same
			err = &Error{Op: op, Err: ErrClosed, Detail: "the peer has gone", Hint: "connect again"}
		default:
			return n, fds, nil
		}
		fds.Close()
		return 0, nil, err
	}
}

// descriptors reads control messages. With an error it returns those that were found.
func descriptors(rights []byte) (fds Descriptors, err error) {
	if len(rights) == 0 {
		return nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(rights)
	for _, m := range messages {
		got, wrong := unix.ParseUnixRights(&m)
		fds = append(fds, got...)
		err = errors.Join(err, wrong)
	}
	if err != nil {
		err = &Error{Op: "receive", Err: ErrDescriptors, Detail: "a control message that is no list of descriptors",
			Cause: err}
	}
	return fds, err
}

// again returns nil when the call that failed is to be made again.
func (s *socket) again(op, call string, err error) error {
	switch {
	case s.over():
		return closed(op)
	case err == unix.EINTR:
		return nil
	case err == unix.EAGAIN:
		return errTimeout
	}
	return socketError(op, call, err)
}

// socketError tells a peer that has gone from other refusals of the system.
func socketError(op, call string, err error) error {
	e := &Error{Op: op, Err: ErrSocket, Cause: fmt.Errorf("%s: %w", call, err)}
	switch {
	case errors.Is(err, unix.EPIPE), errors.Is(err, unix.ECONNRESET), errors.Is(err, unix.ENOTCONN):
		e.Err, e.Hint = ErrClosed, "the peer has gone: connect again"
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		e.Hint = "raise the limit on open files (ulimit -n)"
	case errors.Is(err, unix.ETOOMANYREFS):
		e.Err, e.Hint = ErrDescriptors, "too many descriptors are under way: the peer does not receive them"
	case errors.Is(err, unix.EMSGSIZE):
		e.Err, e.Hint = ErrLong, "the socket's buffer is smaller than a frame: raise net.core.wmem_default"
	}
	return e
}
