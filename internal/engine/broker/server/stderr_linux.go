//go:build !macrules

package server

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Stderr is standard error by a descriptor of its own: the Go runtime ends a process that
// writes to descriptor 2 when its reader has gone, and leaves others alone.
func Stderr() io.Writer {
	fd, err := unix.FcntlInt(os.Stderr.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return io.Discard // it was closed
	}
	return os.NewFile(uintptr(fd), "standard error")
}
