//go:build !macrules

package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// leads refuses a folder whose entries another user could rename: one that others may write,
// unless it is sticky, or that belongs neither to root nor to this user.
func leads(path string) error {
	var s unix.Stat_t
	if err := unix.Lstat(path, &s); err != nil {
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	switch {
	case s.Uid != 0 && int64(s.Uid) != int64(os.Geteuid()):
		return ane.Because(ane.ErrDenied, fmt.Errorf("it belongs to user %d", s.Uid))
	case s.Mode&0o022 != 0 && s.Mode&unix.S_ISVTX == 0:
		return ane.Because(ane.ErrDenied, fmt.Errorf("mode %04o lets others write there", s.Mode&0o777))
	}
	return nil
}

// trustedFile refuses an open file that another user could write, or replace in its folder
// or in one that leads there.
func trustedFile(path string, f *os.File) error {
	var s unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &s); err != nil {
		return err
	}
	switch {
	case s.Uid != 0 && int64(s.Uid) != int64(os.Geteuid()):
		return ane.Because(ane.ErrDenied, fmt.Errorf("it belongs to user %d", s.Uid))
	case s.Mode&0o022 != 0:
		return ane.Because(ane.ErrDenied, fmt.Errorf("mode %04o lets others write it", s.Mode&0o777))
	}
	return trustedAbove(path)
}

// mostLinks is how many symbolic links Linux follows in one path.
const mostLinks = 40

// trustedAbove refuses a path on which another user could rename an entry, or replace a symbolic link: that user could
// put a file or folder in its place. It goes from name to name as the kernel does.
func trustedAbove(path string) error {
	if !filepath.IsAbs(path) {
		wd, err := os.Getwd()
		if err != nil {
			return err
		}
		path = wd + "/" + path // not cleaned: ".." after a link leaves the link's target
	}
	at, names, links := "/", strings.Split(path, "/"), 0
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		if err := leads(at); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		next := filepath.Join(at, name)
		target, err := linkTarget(next)
		switch {
		case err != nil:
			return err
		case target == "":
			at = next
			continue
		}
		if links++; links > mostLinks {
			return &fs.PathError{Op: "open", Path: path, Err: unix.ELOOP}
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		names = append(strings.Split(target, "/"), names...)
	}
	return nil
}

// linkTarget is where a symbolic link leads, "" for a file or folder. It refuses a link of another user than root and
// this one, who could replace it, in a sticky folder too.
func linkTarget(path string) (string, error) {
	var s unix.Stat_t
	if err := unix.Lstat(path, &s); err != nil {
		return "", &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	switch {
	case s.Mode&unix.S_IFMT != unix.S_IFLNK:
		return "", nil
	case s.Uid != 0 && int64(s.Uid) != int64(os.Geteuid()):
		return "", fmt.Errorf("%s: %w", path, ane.Because(ane.ErrDenied, fmt.Errorf("it belongs to user %d", s.Uid)))
	}
	return os.Readlink(path)
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
