//go:build !macrules

package resources

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
)

// trusted refuses a folder in which others could put what this user would run, and a
// symbolic link in place of one.
func trusted(path string) error {
	var s unix.Stat_t
	if err := unix.Lstat(path, &s); err != nil {
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	switch {
	case s.Mode&unix.S_IFMT == unix.S_IFLNK:
		return ane.Because(ane.ErrDenied, errors.New("it is a symbolic link"))
	case s.Mode&unix.S_IFMT != unix.S_IFDIR:
		return &fs.PathError{Op: "open", Path: path, Err: unix.ENOTDIR}
	case int64(s.Uid) != int64(os.Geteuid()):
		return ane.Because(ane.ErrDenied, fmt.Errorf("it belongs to user %d", s.Uid))
	case s.Mode&0o022 != 0:
		return ane.Because(ane.ErrDenied, fmt.Errorf("mode %04o lets others write there", s.Mode&0o777))
	}
	return nil
}

// leastOnDisk is what an empty file counts for: its inode, and what the cache remembers of it. It bounds how many files
// a cache has.
const leastOnDisk = 4 << 10

// onDisk is what a file takes on its disk, in bytes.
func onDisk(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return max(s.Blocks*512, leastOnDisk)
	}
	return info.Size()
}
