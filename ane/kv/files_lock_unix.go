//go:build darwin || linux

package kv

import (
	"errors"
	"os"
	"syscall"
)

// lockable reports whether claim locks, and whether an open file can be renamed.
const lockable = true

// claim locks a file until it is closed. It reports false if another descriptor holds the lock and it does not wait.
// On a file system without locks there is none to hold.
func claim(f *os.File, wait bool) bool {
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return !errors.Is(err, syscall.EWOULDBLOCK)
		}
	}
}
