//go:build !macrules

package server

import (
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
)

// Hide keeps other processes of this user from the descriptors and the memory of this one,
// which are its clients': /proc/PID/fd, ptrace and process_vm_readv refuse them then. Root
// and the kernel's crash dumps of root are not kept away. A shared broker calls it first; a
// private one holds the memory of no process but its own client, which can be opened there.
func Hide() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return &ane.Error{Op: "serve", Engine: Name, Err: err,
			Detail: "other processes of this user can open the broker's descriptors",
			Hint:   "check what filters prctl"}
	}
	return nil
}
