//go:build linux && !macrules

package wire

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// controlWords is room for the descriptors of one frame, in words of 8 bytes: a cmsghdr of at
// most 16 bytes, then an int each.
const controlWords = 2 + MaxDescriptors/2

// smallFrame is the longest frame in bytes that is put together in the Conn, so that one
// buffer goes to the system and no list of them. It is beyond every frame of an evaluation.
const smallFrame = 256

// sending is what the system reads of a frame. It lies in the Conn, so that sending allocates
// nothing.
type sending struct {
	mu      sync.Mutex
	packet  [smallFrame]byte // header, then a small payload
	msg     unix.Msghdr
	iov     [2]unix.Iovec
	control [controlWords]uint64 // aligned as a cmsghdr
}

// load lays a frame out in one piece, or in two, and returns the length of the first.
func (s *sending) load(f *Frame) (first int) {
	f.putHeader((*[HeaderSize]byte)(s.packet[:]))
	s.iov[0].Base, s.msg.Iov = &s.packet[0], &s.iov[0]
	if HeaderSize+len(f.Payload) <= smallFrame {
		first = HeaderSize + copy(s.packet[HeaderSize:], f.Payload)
		s.iov[0].SetLen(first)
		s.msg.SetIovlen(1)
		return first
	}
	s.iov[1].Base = unsafe.SliceData(f.Payload)
	s.iov[0].SetLen(HeaderSize)
	s.iov[1].SetLen(len(f.Payload))
	s.msg.SetIovlen(2)
	return HeaderSize
}

// attach puts descriptors into the control message.
func (s *sending) attach(fds []int) {
	s.msg.Control = nil
	s.msg.SetControllen(0)
	if len(fds) == 0 {
		return
	}
	at := unsafe.Pointer(&s.control[0])
	h := (*unix.Cmsghdr)(at)
	h.Level, h.Type = unix.SOL_SOCKET, unix.SCM_RIGHTS
	h.SetLen(unix.CmsgLen(4 * len(fds)))
	for i, fd := range fds {
		*(*int32)(unsafe.Add(at, unix.CmsgLen(4*i))) = int32(fd)
	}
	s.msg.Control = (*byte)(at)
	s.msg.SetControllen(unix.CmsgSpace(4 * len(fds)))
}

// send sends one frame whole or not at all.
func (s *socket) send(f *Frame, fds []int) error {
	if !s.users.enter() {
		return closed("send")
	}
	defer s.leave()
	s.sending.mu.Lock()
	defer s.sending.mu.Unlock()
	first := s.sending.load(f)
	s.sending.attach(fds)
	plain := s.sending.msg.Iovlen == 1 && len(fds) == 0
	for {
		errno := s.push(plain, first)
		if errno == 0 {
			s.sending.iov[1].Base = nil // the payload is the caller's again
			return nil
		}
		if err := s.again("send", "sendmsg", unix.POLLOUT, errno); err != nil {
			return err
		}
	}
}

// push is one call of the system. sendto is 0.1 us faster than sendmsg.
func (s *socket) push(plain bool, first int) unix.Errno {
	if plain {
		_, _, errno := unix.Syscall6(unix.SYS_SENDTO, uintptr(s.fd), uintptr(unsafe.Pointer(&s.sending.packet)),
			uintptr(first),
			unix.MSG_NOSIGNAL, 0, 0)
		return errno
	}
	_, _, errno := unix.Syscall(unix.SYS_SENDMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&s.sending.msg)),
		unix.MSG_NOSIGNAL)
	return errno
}
