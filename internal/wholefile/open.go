package wholefile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// open finds the destination and opens the file to write. Other processes may replace or
// remove the destination meanwhile.
func (f *File) open(sources []fs.FileInfo) error {
	old, err := os.Stat(f.path)
	if err != nil && (f.path == "" || !errors.Is(err, fs.ErrNotExist)) {
		return err
	}
	if err == nil {
		if err := source(old, sources); err != nil {
			return err
		}
	}
	target, err := follow(f.path)
	if err != nil {
		return err
	}
	if old != nil {
		if !old.Mode().IsRegular() || !leads(f.path, target) {
			f.old = old
			f.file, err = openDirect(f.path, old.Mode(), sources)
			return err
		}
		// Opening for writing fails for a write-protected file; a rename would replace it.
		probe, err := os.OpenFile(target, os.O_WRONLY, 0)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			old = nil // removed since
		case err != nil:
			return err
		default:
			if err := probe.Close(); err != nil {
				return err
			}
		}
	}
	f.target, f.old = target, old
	f.file, err = createBeside(target, old)
	return err
}

// Replaceable reports whether Create makes a new file for path. It does not for devices, pipes and files that only a
// descriptor refers to: these are written directly, and cannot be read.
func Replaceable(path string) bool {
	old, err := os.Stat(path)
	if err != nil {
		return true // there is none, or Create tells what is wrong
	}
	target, err := follow(path)
	return err != nil || old.Mode().IsRegular() && leads(path, target)
}

// Target returns the path of the file that Create would make or replace for path, after following links. It need not
// exist.
func Target(path string) (string, error) {
	target, err := follow(path)
	return target, fault("follow", path, err)
}

// maxLinks is the largest number of symbolic links to follow, as in Linux
// (path_resolution(7)).
const maxLinks = 40

// follow returns the path after following links; the file need not exist. It joins names as
// text without simplifying them, because the system must resolve a ".." after a link to a
// folder.
func follow(path string) (string, error) {
	for range maxLinks {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			dir, _ := filepath.Split(path)
			to = dir + to
		}
		path = to
	}
	return "", syscall.ELOOP
}

// descriptors is the folder of this process's open files.
const descriptors = "/dev/fd/"

// looks is the number of attempts of leads: an attempt fails if another process replaces the
// file between two system calls.
const looks = 10

// leads reports whether target, the result of following the links of path as text, is the file
// that path opens. It is not if the system resolves one of the links by other means, such as
// those in /proc/self/fd. The file may have been removed.
func leads(path, target string) bool {
	if strings.HasPrefix(target, descriptors) {
		return false // macOS shows open files there, not links to them
	}
	if path == target {
		return true // not a link
	}
	for range looks {
		opens, err := os.Stat(path)
		named, other := os.Lstat(target)
		if errors.Is(err, fs.ErrNotExist) || err == nil && other == nil && os.SameFile(opens, named) {
			return true
		}
	}
	return false
}

// openDirect opens a destination that cannot be replaced. It truncates a file without a name
// only after checking that it is not a source. It opens a pipe without waiting for a reader.
func openDirect(path string, mode fs.FileMode, sources []fs.FileInfo) (*os.File, error) {
	pipe := mode&fs.ModeNamedPipe != 0
	flags := os.O_WRONLY
	if pipe {
		flags |= syscall.O_NONBLOCK
	}
	f, err := os.OpenFile(path, flags, 0)
	switch {
	case pipe && errors.Is(err, syscall.ENXIO):
		return nil, fmt.Errorf("this pipe has no reader: %w", syscall.ENXIO)
	case err != nil:
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = source(info, sources)
	}
	if err == nil && info.Mode().IsRegular() {
		err = f.Truncate(0)
	}
	if err != nil {
		_ = f.Close() // the first failure is the one to report
		return nil, err
	}
	if pipe {
		return waiting(f)
	}
	return f, nil
}

// createBeside creates a file with a new name in the folder of path. Unlike os.CreateTemp it
// applies the umask, because the file is permanent. A file that replaces an old one is private
// until it gets the permissions of the old one.
func createBeside(path string, old fs.FileInfo) (*os.File, error) {
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = 0o600
	}
	dir, _ := filepath.Split(path)
	for try := 0; ; try++ {
		name := fmt.Sprintf("%s.wholefile-%016x.tmp", dir, rand.Uint64())
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if try < 100 && errors.Is(err, fs.ErrExist) {
			continue
		}
		return f, err
	}
}
