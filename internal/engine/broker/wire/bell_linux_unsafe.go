//go:build linux && !macrules

package wire

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// box is one direction of a Bell.
type box struct {
	rings  *atomic.Uint32 // counts frames; wraps around
	length *atomic.Uint32 // of the frame
	taken  *atomic.Uint32 // the count of the last frame that was taken, or taken back
	frame  []byte
}

func boxAt(mem []byte) box {
	at := unsafe.Pointer(unsafe.SliceData(mem[:boxSize]))
	return box{rings: (*atomic.Uint32)(at), length: (*atomic.Uint32)(unsafe.Add(at, 4)),
		taken: (*atomic.Uint32)(unsafe.Add(at, 8)), frame: mem[boxHead:boxSize]}
}

// put writes a frame, wakes the other end and returns the frame's count.
func (b *box) put(f *Frame) uint32 {
	f.putHeader((*[HeaderSize]byte)(b.frame))
	n := HeaderSize + copy(b.frame[HeaderSize:], f.Payload)
	b.length.Store(uint32(n))
	return b.wake(1)
}

// claim makes the frame of a count the caller's, unless that or a later one has been claimed.
func (b *box) claim(rings uint32) bool {
	last := b.taken.Load()
	return int32(rings-last) > 0 && b.taken.CompareAndSwap(last, rings)
}

// copy copies the frame out and returns its length. Nothing is copied of one that is
// longer than a frame can be.
func (b *box) copy(buf []byte) uint32 {
	n := b.length.Load()
	if n <= MaxFrame {
		copy(buf, b.frame[:n])
	}
	return n
}

// wake counts and wakes as many sleepers in await. The call never blocks, so the
// runtime need not know of it.
func (b *box) wake(sleepers uint32) uint32 {
	rings := b.rings.Add(1)
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(b.rings)), futexWake, uintptr(sleepers), 0, 0, 0)
	return rings
}

// await returns the count of frames, after one sleep of at most wait if it is seen still.
func (b *box) await(seen uint32, wait time.Duration) uint32 {
	if rings := b.rings.Load(); rings != seen || wait <= 0 {
		return rings
	}
	limit := unix.NsecToTimespec(wait.Nanoseconds())
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(b.rings)), futexWait, uintptr(seen),
		uintptr(unsafe.Pointer(&limit)), 0, 0)
	return b.rings.Load()
}

// Operations of futex(2), from linux/futex.h. Without FUTEX_PRIVATE_FLAG they reach across
// processes.
const (
	futexWait = 0
	futexWake = 1
)
