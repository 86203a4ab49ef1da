//go:build linux

package wire

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// controlSize is room for the descriptors of one frame. A flood of them does not fit: the
// system drops what is too much and says so.
const controlSize = 16 + 4*MaxDescriptors // cmsghdr of 64-bit Linux, then an int each

// sending is what sendmsg reads. It lies in the Conn, so that sending allocates nothing.
type sending struct {
	mu      sync.Mutex
	msg     unix.Msghdr
	iov     [2]unix.Iovec
	header  [HeaderSize]byte
	control [controlSize / 8]uint64 // aligned as a cmsghdr
}

func (s *sending) init() {
	s.msg.Iov = &s.iov[0]
	s.iov[0].Base, s.iov[0].Len = &s.header[0], HeaderSize
}

// load points the message at a frame; unload lets go of it.
func (s *sending) load(f *Frame, fds []int) {
	f.putHeader(&s.header)
	s.msg.Iovlen = 1
	if len(f.Payload) > 0 {
		s.msg.Iovlen = 2
		s.iov[1].Base, s.iov[1].Len = unsafe.SliceData(f.Payload), uint64(len(f.Payload))
	}
	s.msg.Control, s.msg.Controllen = nil, 0
	if len(fds) == 0 {
		return
	}
	h := (*unix.Cmsghdr)(unsafe.Pointer(&s.control[0]))
	h.Level, h.Type, h.Len = unix.SOL_SOCKET, unix.SCM_RIGHTS, uint64(unix.CmsgLen(4*len(fds)))
	for i, fd := range fds {
		*(*int32)(unsafe.Add(unsafe.Pointer(&s.control[0]), unix.CmsgLen(4*i))) = int32(fd)
	}
	s.msg.Control = (*byte)(unsafe.Pointer(&s.control[0]))
	s.msg.Controllen = uint64(unix.CmsgSpace(4 * len(fds)))
}

func (s *sending) unload() { s.iov[1].Base, s.iov[1].Len = nil, 0 }

// send sends one frame whole or not at all.
func (s *socket) send(f *Frame, fds []int) error {
	const op = "send"
	if !s.users.enter() {
		return closed(op)
	}
	defer s.leave()
	s.sending.mu.Lock()
	defer s.sending.mu.Unlock()
	s.sending.load(f, fds)
	defer s.sending.unload()
	for {
		_, _, errno := unix.Syscall(unix.SYS_SENDMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&s.sending.msg)), unix.MSG_NOSIGNAL)
		if errno == 0 {
			return nil
		}
		if err := s.retry(op, "sendmsg", unix.POLLOUT, errno); err != nil {
			return err
		}
	}
}

// retry returns nil when the call is to be made again. Somebody with the same socket may
// have set it to non-blocking mode, so waiting is by poll then.
func (s *socket) retry(op, call string, event int16, errno unix.Errno) error {
	switch {
	case s.users.over():
		return closed(op)
	case errno == unix.EINTR:
		return nil
	case errno == unix.EAGAIN:
		fds := []unix.PollFd{{Fd: int32(s.fd), Events: event}}
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return socketError(op, "poll", err)
		}
		return nil
	case op == "send" && errno == unix.EBADF: // one of those passed, the socket itself is open
		return &Error{Op: op, Err: ErrDescriptors, Cause: errno, Hint: "pass open descriptors"}
	}
	return socketError(op, call, errno)
}

// incoming is what recvmsg writes. It lies in the Conn, so that receiving allocates only for
// descriptors.
type incoming struct {
	mu      sync.Mutex
	msg     unix.Msghdr
	iov     unix.Iovec
	control [controlSize / 8]uint64
}

func (r *incoming) init() {
	r.msg.Iov, r.msg.Iovlen = &r.iov, 1
	r.msg.Control = (*byte)(unsafe.Pointer(&r.control[0]))
}

// receive takes one packet. On an error no descriptor is left open.
func (s *socket) receive(buf []byte) (int, Descriptors, error) {
	const op = "receive"
	if len(buf) < HeaderSize {
		return 0, nil, &Error{Op: op, Err: ErrShort, Detail: fmt.Sprintf("a buffer of %d bytes", len(buf)), Hint: "pass MaxFrame bytes"}
	}
	if !s.users.enter() {
		return 0, nil, closed(op)
	}
	defer s.leave()
	r := &s.incoming
	r.mu.Lock()
	defer r.mu.Unlock()
	r.iov.Base, r.iov.Len = unsafe.SliceData(buf), uint64(len(buf))
	defer func() { r.iov.Base, r.iov.Len = nil, 0 }()
	for {
		r.msg.Controllen, r.msg.Flags = controlSize, 0
		n, _, errno := unix.Syscall(unix.SYS_RECVMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&r.msg)), unix.MSG_CMSG_CLOEXEC)
		if errno == 0 {
			return s.accept(int(n))
		}
		if err := s.retry(op, "recvmsg", unix.POLLIN, errno); err != nil {
			return 0, nil, err
		}
	}
}

// accept looks at what recvmsg returned.
func (s *socket) accept(n int) (int, Descriptors, error) {
	const op = "receive"
	fds, err := s.incoming.descriptors()
	flags := s.incoming.msg.Flags
	switch {
	case err != nil:
	case flags&unix.MSG_CTRUNC != 0:
		err = &Error{Op: op, Err: ErrDescriptors, Detail: fmt.Sprintf("more than %d, or more than this process may open", MaxDescriptors),
			Hint: "send fewer, or raise the limit on open files (ulimit -n)"}
	case flags&unix.MSG_TRUNC != 0:
		err = &Error{Op: op, Err: ErrLong, Detail: "packet longer than the buffer", Hint: "pass MaxFrame bytes"}
	case n == 0 && s.users.over():
		err = closed(op)
	case n == 0:
		err = &Error{Op: op, Err: ErrClosed, Detail: "the peer has gone"}
	default:
		return n, fds, nil
	}
	fds.Close()
	return 0, nil, err
}

// descriptors reads the control message.
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
		return fds, &Error{Op: "receive", Err: ErrDescriptors, Detail: "a control message that is no list of descriptors", Cause: err}
	}
	return fds, nil
}
