//go:build !macrules

package uring

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// Ring reads files through io_uring. Its methods may be called concurrently; one Read runs at a time.
type Ring struct {
	mu     sync.Mutex
	q      *queues // nil after Close
	depth  int
	wake   int // an eventfd, which ends the wait of Read
	memory [][]region
	broken error // after which the kernel may still write to memory of a read
}

// region is a part of registered memory, with its number in the kernel's list.
type region struct {
	mem   []byte
	index uint16
}

// longest is the most that the kernel registers under one number.
const longest = 1 << 30

// Open makes a Ring with depth reads in flight. Where the kernel has no io_uring or refuses it, the error is an *Error
// with the reason.
func Open(depth int) (*Ring, error) {
	depth = min(max(depth, 1), 1024)
	q, call, err := setup(uint32(depth) + 2)
	if err != nil {
		return nil, &Error{Call: call, Err: err, Why: why(err)}
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, errors.Join(&Error{Call: "eventfd", Err: err, Why: why(err)}, q.close())
	}
	return &Ring{q: q, depth: depth, wake: wake}, nil
}

// why explains the error of a call.
func why(err error) string {
	switch {
	case errors.Is(err, unix.ENOSYS):
		return "the kernel is older than Linux 5.6, or a filter of system calls hides io_uring"
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return "a filter of system calls or sysctl kernel.io_uring_disabled forbids it"
	case errors.Is(err, unix.ENOMEM):
		return "the limit on locked memory is too low (ulimit -l)"
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return "no file descriptor is left (ulimit -n)"
	case errors.Is(err, unix.EOPNOTSUPP):
		return "the kernel pins no such memory"
	}
	return "the system refused the call"
}

// Register resolves and pins memory for reads: slice i gets the number i. It replaces what was registered before.
// The memory must stay mapped until Close or the next Register. Without arguments it only forgets. After an error nothing
// is registered.
//
// Errors: ErrClosed, and an *Error with the reason.
func (r *Ring) Register(mem ...[]byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.q == nil {
		return ErrClosed
	}
	if r.memory != nil {
		r.q.unregister()
		r.memory = nil
	}
	if len(mem) == 0 {
		return nil
	}
	var list [][]byte
	memory := make([][]region, len(mem))
	for i, m := range mem {
		for len(m) > 0 {
			n := min(len(m), longest)
			memory[i] = append(memory[i], region{m[:n:n], uint16(len(list))})
			list = append(list, m[:n:n])
			m = m[n:]
		}
	}
	if err := r.q.register(list); err != nil {
		return &Error{Call: "io_uring_register", Err: err, Why: why(err)}
	}
	r.memory = memory
	return nil
}

// fixed returns the kernel's number for the memory of x, which must lie in one region.
func (r *Ring) fixed(x *Read) (index uint16, ok bool) {
	if x.Memory < 0 || x.Memory >= len(r.memory) {
		return 0, false
	}
	at := address(x.Mem)
	for _, g := range r.memory[x.Memory] {
		if from := address(g.mem); at >= from && at+uint64(len(x.Mem)) <= from+uint64(len(g.mem)) {
			return g.index, true
		}
	}
	return 0, false
}

// Tags of requests that are no reads.
const (
	wakeTag   = 1<<64 - 1
	cancelTag = 1<<64 - 2
)

// Read reads all of list from f, several at a time, in any order, and returns when none is in flight. After each it
// calls done with its index, N and Err being set. done may change the fields and return true, which reads again, for
// the rest of a short read. If ctx ends, Read cancels what is in flight, waits for it, and returns the cause; reads that
// had not begun have that cause as their Err.
//
// Errors: ErrClosed, ErrMemory, os.ErrClosed, the cause of ctx, and an *Error of the ring itself: with InFlight the
// kernel may still write to the memory, otherwise nothing was read.
func (r *Ring) Read(ctx context.Context, f *os.File, list []*Read, done func(i int) (again bool)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.q == nil {
		return ErrClosed
	}
	if r.broken != nil {
		return r.broken
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	// Requests belong to the thread that made them: it must not end before them.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	signaled := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { r.signal(); close(signaled) })
	inner := raw.Control(func(fd uintptr) { err = r.run(ctx, int(fd), list, done) })
	if !stop() {
		<-signaled
	}
	r.drain()
	if inner != nil { // the only error of Control
		return os.ErrClosed
	}
	return err
}

// signal ends the wait of Read.
func (r *Ring) signal() { _, _ = unix.Write(r.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// drain makes the eventfd wait again after signal.
func (r *Ring) drain() {
	var b [8]byte
	_, _ = unix.Read(r.wake, b[:])
}

// running is a call of Read.
type running struct {
	*Ring
	fd      int
	list    []*Read
	next    []int // reads to submit
	flying  int
	waking  bool // a request waits for the eventfd
	cancels int  // requests to cancel that have not completed
	asked   bool // to cancel everything
	entered bool // the kernel may have requests
	cause   error
}

func (r *Ring) run(ctx context.Context, fd int, list []*Read, done func(int) bool) error {
	x := &running{Ring: r, fd: fd, list: list}
	for i, read := range list {
		read.N, read.Err = 0, nil
		if _, inside := r.fixed(read); len(read.Mem) == 0 || read.Memory >= 0 && !inside {
			return ErrMemory
		}
		x.next = append(x.next, i)
	}
	for {
		if x.cause == nil && ctx.Err() != nil {
			x.cause = context.Cause(ctx)
		}
		if x.cause != nil {
			for _, i := range x.next {
				list[i].Err = x.cause
			}
			x.next = nil
		}
		if x.flying == 0 && len(x.next) == 0 {
			return errors.Join(x.cause, x.settle())
		}
		x.submit()
		if err := x.q.enter(x.flying > 0); err != nil {
			if !x.entered {
				x.q.drop() // the kernel has seen nothing
				return &Error{Call: "io_uring_enter", Err: err, Why: why(err)}
			}
			r.broken = &Error{Call: "io_uring_enter", Err: err, Why: "reads may still be in flight", InFlight: true}
			return r.broken
		}
		x.entered = true
		x.collect(done)
	}
}

// submit adds requests as long as there is room.
func (x *running) submit() {
	if !x.waking && x.cause == nil {
		x.waking = x.q.push(sqe{opcode: opPollAdd, fd: int32(x.wake), opFlags: pollIn, userData: wakeTag})
	}
	if x.cause != nil && !x.asked && x.flying > 0 {
		for i, read := range x.list {
			cancel := sqe{opcode: opAsyncCancel, fd: -1, addr: uint64(i), userData: cancelTag}
			if read.N == inFlight && x.q.push(cancel) {
				x.cancels++
			}
		}
		x.asked = true // once: a read that is not cancelled completes
	}
	for len(x.next) > 0 && x.flying < x.depth {
		i := x.next[0]
		read := x.list[i]
		e := sqe{opcode: opRead, fd: int32(x.fd), off: uint64(read.Off), addr: address(read.Mem),
			len: uint32(min(len(read.Mem), longest)), userData: uint64(i)}
		if read.Memory >= 0 {
			e.bufIndex, _ = x.fixed(read)
			e.opcode = opReadFixed
		}
		if !x.q.push(e) {
			return
		}
		x.next = x.next[1:]
		read.N = inFlight
		x.flying++
	}
}

// inFlight is N of a read that the kernel has.
const inFlight = -1

// collect takes completions.
func (x *running) collect(done func(int) bool) {
	for {
		e, ok := x.q.pop()
		if !ok {
			return
		}
		switch e.userData {
		case wakeTag:
			x.waking = false
			continue
		case cancelTag:
			x.cancels--
			continue
		}
		read := x.list[e.userData]
		x.flying--
		read.N = 0
		switch {
		case e.res >= 0:
			read.N = int(e.res)
		case e.res == -int32(unix.EINTR), e.res == -int32(unix.EAGAIN):
			x.next = append(x.next, int(e.userData))
			continue
		case e.res == -int32(unix.ECANCELED) && x.cause != nil:
			read.Err = x.cause
		default:
			read.Err = unix.Errno(-e.res)
		}
		if done(int(e.userData)) {
			x.next = append(x.next, int(e.userData))
		}
	}
}

// settle ends the requests that are no reads, so that the next Read finds none.
func (x *running) settle() error {
	asked := false
	for x.waking || x.cancels > 0 {
		if x.waking && !asked {
			asked = x.q.push(sqe{opcode: opAsyncCancel, fd: -1, addr: wakeTag, userData: cancelTag})
			if asked {
				x.cancels++
			}
		}
		if err := x.q.enter(true); err != nil {
			x.broken = &Error{Call: "io_uring_enter", Err: err, Why: "a request may still be in flight", InFlight: true}
			return x.broken
		}
		x.collect(func(int) bool { return false })
	}
	return nil
}

// Close ends the Ring, once, after a Read in flight; repeating it does nothing.
func (r *Ring) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.q == nil {
		return nil
	}
	q := r.q
	r.q, r.memory = nil, nil
	return errors.Join(q.close(), unix.Close(r.wake))
}
