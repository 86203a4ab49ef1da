//go:build linux && !macrules

package wire

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// incoming is what recvmsg writes. It lies in the Conn, so that receiving allocates only for
// descriptors.
type incoming struct {
	mu      sync.Mutex
	msg     unix.Msghdr
	iov     unix.Iovec
	control [controlWords]uint64
}

// load points the message at buf.
func (r *incoming) load(buf []byte) {
	r.iov.Base = unsafe.SliceData(buf)
	r.iov.SetLen(len(buf))
	r.msg.Iov = &r.iov
	r.msg.SetIovlen(1)
	r.msg.Control = (*byte)(unsafe.Pointer(&r.control[0]))
}

// receive takes one packet. On an error no descriptor is left open.
func (s *socket) receive(buf []byte) (int, Descriptors, error) {
	const op = "receive"
	if len(buf) < HeaderSize {
		return 0, nil, &Error{Op: op, Err: ErrShort, Detail: fmt.Sprintf("a buffer of %d bytes", len(buf)),
			Hint: "pass MaxFrame bytes"}
	}
	if !s.users.enter() {
		return 0, nil, closed(op)
	}
	defer s.leave()
	r := &s.incoming
	r.mu.Lock()
	defer r.mu.Unlock()
	r.load(buf)
	for {
		r.msg.Flags = 0
		r.msg.SetControllen(unix.CmsgSpace(4 * MaxDescriptors)) // more of them do not fit, and the system says so
		n, _, errno := unix.Syscall(unix.SYS_RECVMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&r.msg)),
			unix.MSG_CMSG_CLOEXEC)
		if errno == 0 {
			r.iov.Base = nil // the buffer is the caller's again
			return s.accept(int(n))
		}
		if err := s.again(op, "recvmsg", unix.POLLIN, errno); err != nil {
			return 0, nil, err
		}
	}
}

// accept checks what recvmsg returned.
func (s *socket) accept(n int) (int, Descriptors, error) {
	const op = "receive"
	fds, err := s.incoming.descriptors()
	flags := s.incoming.msg.Flags
	switch {
	case err != nil:
	case flags&unix.MSG_CTRUNC != 0:
		err = &Error{Op: op, Err: ErrDescriptors,
			Detail: fmt.Sprintf("more than %d beside a frame, or more than this process may open", MaxDescriptors),
			Hint:   "send fewer, or raise the limit on open files (ulimit -n)"}
	case flags&unix.MSG_TRUNC != 0:
		err = &Error{Op: op, Err: ErrLong, Detail: "packet longer than the buffer", Hint: "pass MaxFrame bytes"}
	case n == 0:
		err = s.empty()
	default:
		return n, fds, nil
	}
	fds.Close()
	return 0, nil, err
}

// empty tells the end of the connection from a packet of no bytes.
func (s *socket) empty() error {
	if s.users.over() {
		return closed("receive")
	}
	fds := []unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLRDHUP}}
	if _, err := unix.Poll(fds, 0); err == nil && fds[0].Revents == 0 {
		return &Error{Op: "receive", Err: ErrShort, Detail: "a packet of no bytes"}
	}
	return &Error{Op: "receive", Err: ErrClosed, Detail: "the peer has gone", Hint: "connect again"}
}

// descriptors reads the control message. With an error it returns those that were found.
func (r *incoming) descriptors() (Descriptors, error) {
	if r.msg.Controllen == 0 {
		return nil, nil
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(&r.control[0])), r.msg.Controllen)
	messages, err := unix.ParseSocketControlMessage(b)
	var fds Descriptors
	for _, m := range messages {
		got, wrong := unix.ParseUnixRights(&m)
		fds = append(fds, got...)
		err = errors.Join(err, wrong)
	}
	if err != nil {
		return fds, &Error{Op: "receive", Err: ErrDescriptors,
			Detail: "a control message that is no list of descriptors", Cause: err}
	}
	return fds, nil
}
