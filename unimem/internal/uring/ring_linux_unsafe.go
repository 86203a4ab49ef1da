//go:build linux && !macrules

package uring

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// queues are the two queues that the kernel shares with the process. Heads and tails are atomics in memory
// outside of Go; what lies between them belongs to one side.
type queues struct {
	fd            int
	ring, entries []byte

	sqHead, sqTail, cqHead, cqTail *uint32
	sqMask, cqMask, sqSize         uint32
	array                          []uint32
	sqes                           []sqe
	cqes                           []cqe
}

// setup makes queues of at least n entries.
func setup(n uint32) (q *queues, call string, err error) {
	var p params
	fd := 0
	for _, flags := range []uint32{setupClamp | setupCoopTaskrun, setupClamp} {
		p = params{flags: flags}
		r, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, uintptr(n), uintptr(unsafe.Pointer(&p)), 0)
		if errno == 0 {
			fd, err = int(r), nil
			break
		}
		if err = errno; errno != unix.EINVAL { // the flags of newer kernels
			break
		}
	}
	if err != nil {
		return nil, "io_uring_setup", err
	}
	q = &queues{fd: fd}
	if p.features&featSingleMmap == 0 {
		_ = q.close()
		return nil, "io_uring_setup", unix.ENOSYS // before Linux 5.4
	}
	size := max(int(p.sq.array)+4*int(p.sqEntries), int(p.cq.cqes)+int(p.cqEntries)*int(unsafe.Sizeof(cqe{})))
	const access, shared = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_SHARED | unix.MAP_POPULATE
	if q.ring, err = unix.Mmap(fd, offSQ, size, access, shared); err == nil {
		q.entries, err = unix.Mmap(fd, offSQEs, int(p.sqEntries)*int(unsafe.Sizeof(sqe{})), access, shared)
	}
	if err != nil {
		_ = q.close()
		return nil, "mmap of the ring", err
	}
	at := func(off uint32) *uint32 { return (*uint32)(unsafe.Pointer(&q.ring[off])) }
	q.sqHead, q.sqTail, q.sqMask, q.sqSize = at(p.sq.head), at(p.sq.tail), *at(p.sq.mask), p.sqEntries
	q.cqHead, q.cqTail, q.cqMask = at(p.cq.head), at(p.cq.tail), *at(p.cq.mask)
	q.array = unsafe.Slice(at(p.sq.array), p.sqEntries)
	q.sqes = unsafe.Slice((*sqe)(unsafe.Pointer(unsafe.SliceData(q.entries))), p.sqEntries)
	q.cqes = unsafe.Slice((*cqe)(unsafe.Pointer(&q.ring[p.cq.cqes])), p.cqEntries)
	return q, "", nil
}

// push adds an entry. It reports whether there was room.
func (q *queues) push(e sqe) bool {
	tail := atomic.LoadUint32(q.sqTail)
	if tail-atomic.LoadUint32(q.sqHead) >= q.sqSize {
		return false
	}
	i := tail & q.sqMask
	q.sqes[i], q.array[i] = e, i
	atomic.StoreUint32(q.sqTail, tail+1) // publishes the entry
	return true
}

// pending is the number of entries that the kernel has not taken.
func (q *queues) pending() uint32 { return atomic.LoadUint32(q.sqTail) - atomic.LoadUint32(q.sqHead) }

// drop takes back what is pending.
func (q *queues) drop() { atomic.StoreUint32(q.sqTail, atomic.LoadUint32(q.sqHead)) }

// pop takes a completion.
func (q *queues) pop() (e cqe, ok bool) {
	head := atomic.LoadUint32(q.cqHead)
	if head == atomic.LoadUint32(q.cqTail) {
		return e, false
	}
	e = q.cqes[head&q.cqMask]
	atomic.StoreUint32(q.cqHead, head+1)
	return e, true
}

// enter submits what is pending, and waits for a completion if wait is set. After a signal, or while the kernel is busy,
// it returns nil without either: the caller enters again.
func (q *queues) enter(wait bool) error {
	var least, flags uintptr
	if wait {
		least, flags = 1, enterGetEvents
	}
	_, _, errno := unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(q.fd), uintptr(q.pending()), least, flags, 0, 0)
	switch errno {
	case 0, unix.EINTR, unix.EAGAIN, unix.EBUSY:
		return nil
	}
	return errno
}

// register makes the kernel resolve and pin the pages of memory. The list replaces the one before.
func (q *queues) register(mem [][]byte) error {
	list := make([]unix.Iovec, len(mem))
	for i, m := range mem {
		list[i].Base = unsafe.SliceData(m)
		list[i].SetLen(len(m))
	}
	_, _, errno := unix.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(q.fd), registerBuffers,
		uintptr(unsafe.Pointer(unsafe.SliceData(list))), uintptr(len(list)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// unregister forgets memory.
func (q *queues) unregister() {
	_, _, _ = unix.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(q.fd), unregisterBuffers, 0, 0, 0, 0)
}

// address is where mem begins. The caller keeps it until the kernel has finished.
func address(mem []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(mem)))) }

// close ends the ring.
func (q *queues) close() error {
	if q.entries != nil {
		_ = unix.Munmap(q.entries)
	}
	if q.ring != nil {
		_ = unix.Munmap(q.ring)
	}
	return unix.Close(q.fd)
}
