//go:build !macrules

package unimem

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"golang.org/x/sys/unix"
)

// shmFolder is the file system of shared memory.
const shmFolder = "/dev/shm"

// openShm opens a Block on an unlinked file in shared memory, because memfd_create failed with
// cause. The file system may be smaller than the memory, and touching a page beyond it ends the
// process, so all pages are allocated at once.
func openShm(size int, cause error) (backing, error) {
	fd, err := createShm()
	step := "open in " + shmFolder
	if err == nil {
		step = "fallocate in " + shmFolder
		err = retry(func() error { return unix.Fallocate(fd, 0, 0, int64(size)) })
		if err != nil {
			_ = unix.Close(fd) // the first failure is the one to report
		}
	}
	if err != nil {
		e := createError("open", step, size, err)
		e.Cause = fmt.Errorf("memfd_create: %w; %w", cause, e.Cause)
		return nil, e
	}
	return mapNew(fd, size, kindShm)
}

// createShm returns a new file without a name.
func createShm() (int, error) {
	const flags, mode = unix.O_RDWR | unix.O_CLOEXEC | unix.O_EXCL, 0o600
	fd, err := unix.Open(shmFolder, flags|unix.O_TMPFILE, mode)
	if !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.EISDIR) {
		return fd, err
	}
	name := fmt.Sprintf("%s/unimem-%016x", shmFolder, rand.Uint64()) // a system without O_TMPFILE
	if fd, err = unix.Open(name, flags|unix.O_CREAT|unix.O_NOFOLLOW, mode); err != nil {
		return -1, err
	}
	if err := unix.Unlink(name); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
