//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// mayBeClosed reports whether f is the null device, open for reading and writing. The runtime opens it so
// in place of a standard output that is closed; a shell opens it for writing only.
func mayBeClosed(f *os.File) bool {
	null, err := os.Stat(os.DevNull)
	if err != nil {
		return false
	}
	info, err := f.Stat()
	if err != nil || !os.SameFile(null, info) {
		return false
	}
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_ACCMODE == unix.O_RDWR
}
