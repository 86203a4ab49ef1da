//go:build linux && !macrules

package server

import (
	"math"
	"unsafe"

	"golang.org/x/sys/unix"
)

// requeue moves the sleepers on the word at one place of a shared mapping to another
// one, where no call wakes them, and returns how many there were.
func requeue(mem []byte, from, to int) int {
	const futexRequeue = 3
	n, _, _ := unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&mem[from])), futexRequeue, 0, math.MaxInt32,
		uintptr(unsafe.Pointer(&mem[to])), 0)
	return int(n)
}
