//go:build !macrules

package broker

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
)

// Probe tells why no process of this system can be a broker or its client, or returns nil: memory is passed between
// them in memfds.
func Probe() error {
	fd, err := unix.MemfdCreate("probe", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	switch {
	case err == nil:
		_ = unix.Close(fd) // of a file without bytes
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM), errors.Is(err, unix.EINVAL):
		return &ane.Error{Op: "open", Engine: Name, Err: ane.Because(ane.ErrUnavailable, err),
			Detail: "the kernel, or a filter of system calls, refuses memfd_create",
			Hint:   "permit that call in the filter (seccomp), run on Linux 3.17 or later, or use the engine soft"}
	}
	return nil // what else is wrong, Open finds out
}
