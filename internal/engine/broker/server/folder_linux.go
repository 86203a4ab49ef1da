//go:build !macrules

package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
)

// privateDir opens a folder that only this user can use, and makes it if it is
// missing. A symbolic link in place of the folder is refused.
func privateDir(path string) (*os.File, error) {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	dir := os.NewFile(uintptr(fd), path)
	var s unix.Stat_t
	err = unix.Fstat(fd, &s)
	if err == nil {
		err = private(path, &s)
	}
	if err != nil {
		_ = dir.Close() // the first error is the one to report
		return nil, err
	}
	return dir, nil
}

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

// private refuses what others could reach.
func private(path string, s *unix.Stat_t) error {
	denied := func(detail, hint string) error {
		return &ane.Error{Op: "listen", Engine: Name, Name: path, Err: ane.ErrDenied, Detail: detail, Hint: hint}
	}
	if int64(s.Uid) != int64(os.Geteuid()) {
		return denied(fmt.Sprintf("belongs to user %d", s.Uid), "use a folder of your own")
	}
	if mode := s.Mode & 0o777; mode&0o077 != 0 {
		return denied(fmt.Sprintf("mode %04o lets others in", mode),
			"name a folder of mode 0700; one that does not exist is made so")
	}
	return nil
}
