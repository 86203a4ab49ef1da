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

// open finds the destination and opens the file to be written. Others may replace
// or remove the destination meanwhile.
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
		// Asking for write access honours a file that is write-protected, which
		// a rename would not.
		probe, err := os.OpenFile(target, os.O_WRONLY, 0)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			old = nil // removed meanwhile
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

// maxLinks is how many symbolic links may follow each other, as in Linux
// (path_resolution(7)).
const maxLinks = 40

// follow returns the name that path leads to, which need not exist. Names are
// put together as text, never shortened: a ".." behind a link to a folder is for
// the system to resolve.
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

// looks is how often leads looks: each time but the last, somebody else would have
// to replace the file between two calls of the system.
const looks = 10

// leads tells whether target, to which the links of path point as text, is the file
// that path opens. It is not if one of them is a link that the system resolves by
// other means, as those in /proc/self/fd. A file that was removed is led to as well
// as any other.
func leads(path, target string) bool {
	if strings.HasPrefix(target, descriptors) {
		return false // macOS shows open files there, not links to them
	}
	if path == target {
		return true // no link
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

// openDirect opens a destination that cannot be replaced. Of these, only a file
// without a name has a length to be cut, which waits until it is known to be no
// source; only a pipe may make its opener wait, so it is asked not to.
func openDirect(path string, mode fs.FileMode, sources []fs.FileInfo) (*os.File, error) {
	pipe := mode&fs.ModeNamedPipe != 0
	flags := os.O_WRONLY
	if pipe {
		flags |= syscall.O_NONBLOCK
	}
	f, err := os.OpenFile(path, flags, 0)
	switch {
	case pipe && errors.Is(err, syscall.ENXIO):
		return nil, fmt.Errorf("nobody reads from this pipe: %w", syscall.ENXIO)
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
		_ = f.Close() // the first error says more
		return nil, err
	}
	if pipe {
		return waiting(f)
	}
	return f, nil
}

// createBeside makes a file of a new name in the folder of path. Unlike
// os.CreateTemp it leaves permissions to the umask, as the file is to stay. What
// replaces an old file is private until it takes over that one's permissions.
func createBeside(path string, old fs.FileInfo) (*os.File, error) {
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = 0o600
	}
	dir, _ := filepath.Split(path)
	for try := 0; ; try++ {
		name := fmt.Sprintf("%s.wholefile-%016x.tmp", dir, rand.Uint64())
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if try < 100 && errors.Is(err, fs.ErrExist) {
			continue
		}
		return f, err
	}
}
