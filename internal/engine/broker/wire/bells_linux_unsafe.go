//go:build linux && !macrules

package wire

import (
	"errors"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// MaxBells is how many bells one Sleeper can sleep at: the kernel takes 128 words, of which one is its own.
const MaxBells = 127

// Sleeper lets one thread sleep at many bells (futex_waitv). One goroutine at a time calls Sleep, any calls Wake.
type Sleeper struct {
	wakes atomic.Uint32
	words [MaxBells + 1]word
}

// word is struct futex_waitv of linux/futex.h.
type word struct {
	value, at uint64
	flags     uint32
	_         uint32 // reserved
}

// futexSize32 says that a word has 32 bits, and is shared.
const futexSize32 = 2

// CanSleepAtBells reports whether the kernel has what a Sleeper needs (Linux 5.16).
func CanSleepAtBells() bool {
	_, _, err := unix.Syscall6(unix.SYS_FUTEX_WAITV, 0, 0, 0, 0, 0, 0)
	return errors.Is(err, unix.EINVAL) // no word at all
}

// Wakes counts calls of Wake.
func (s *Sleeper) Wakes() uint32 { return s.wakes.Load() }

// Wake ends a Sleep, also one that has not begun, if it was told an earlier count of Wakes.
func (s *Sleeper) Wake() {
	s.wakes.Add(1)
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&s.wakes)), futexWake, 1, 0, 0, 0)
}

// Sleep returns when a bell has rung since its last Receive, when one is closed, and after Wake. It may return before.
// The caller is the receiver of all of them, which are MaxBells at most.
func (s *Sleeper) Sleep(wakes uint32, bells []*Bell) {
	s.words[0] = word{value: uint64(wakes), at: uint64(uintptr(unsafe.Pointer(&s.wakes))), flags: futexSize32}
	n := 0
	for ; n < len(bells) && bells[n].enter(); n++ {
		b := bells[n]
		s.words[n+1] = word{value: uint64(b.seen), at: uint64(uintptr(unsafe.Pointer(b.own.rings))), flags: futexSize32}
	}
	if n == len(bells) {
		_, _, _ = unix.Syscall6(unix.SYS_FUTEX_WAITV, uintptr(unsafe.Pointer(&s.words)), uintptr(n+1), 0, 0, 0, 0)
	}
	for _, b := range bells[:n] {
		b.leave()
	}
}
