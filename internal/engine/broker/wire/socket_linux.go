package wire

import (
	"fmt"
	"net"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// socket is a descriptor in blocking mode. Close wakes whoever waits in it by shutting the
// connection down, and the last call inside gives the descriptor back.
//
// Waiting blocks a thread and leaves the runtime's poller alone. Of a round trip of 64 bytes
// between two processes on a machine of 2 cores, the median was 5 us so, 11 to 70 us over
// the poller, 10 to 15 us when looking 20 times before blocking (the two processes share a
// core as long as nobody spins), unchanged with the goroutines locked to their threads, and
// 10 to 60 us when a goroutine received and handed over by a channel: whoever waits for an
// answer should call Receive itself. Bare calls on such a socket took 4.5 us and on eventfds
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
	if c != nil && c.users.shut() {
		_ = unix.Shutdown(c.fd, unix.SHUT_RDWR) // fails only if the peer has gone
		c.leave()
	}
	return nil
}

func (s *socket) leave() {
	if s.users.leave() {
		_ = unix.Close(s.fd) // nobody could do anything about it
	}
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
		_ = unix.Close(fd) // a number that is not open is no leak
	}
}

func socketPair() (a, b int, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, -1, socketError("pair", "socketpair", err)
	}
	return fds[0], fds[1], nil
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

// FromUnix makes a Conn of an accepted or dialled "unixpacket" connection and closes u.
func FromUnix(u *net.UnixConn) (*Conn, error) {
	const op = "open"
	if u == nil {
		return nil, &Error{Op: op, Err: ErrSocket, Detail: "no connection"}
	}
	f, err := u.File()
	_ = u.Close()
	if err != nil {
		return nil, socketError(op, "dup", err)
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, socketError(op, "dup", err)
	}
	return NewConn(fd)
}

// Dial connects to a broker's socket. Errors: ErrSocket.
func Dial(path string) (*Conn, error) {
	u, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		return nil, &Error{Op: "dial", Err: ErrSocket, Detail: path, Cause: err, Hint: "start a broker that listens there"}
	}
	return FromUnix(u)
}
