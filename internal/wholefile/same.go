package wholefile

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// SourceError is the error for a destination that is a file that the caller reads, by any
// name. Create returns it in a *fs.PathError.
type SourceError struct {
	Source fs.FileInfo // the source given to Create
}

func (e *SourceError) Error() string { return "this file is read by the same run" }

// source returns a SourceError if info is one of sources. Character devices and sockets are
// not sources: writing to a terminal, to /dev/null or to a connection does not change the data
// that is read.
func source(info fs.FileInfo, sources []fs.FileInfo) error {
	if info == nil || info.Mode()&(fs.ModeCharDevice|fs.ModeSocket) != 0 {
		return nil
	}
	for _, s := range sources {
		if s != nil && os.SameFile(info, s) {
			return &SourceError{s}
		}
	}
	return nil
}

// Old returns the destination at the time of Create, nil if there was none.
func (f *File) Old() fs.FileInfo { return f.old }

// Same reports whether f and g would replace the same file, by any names. It is false for
// devices and pipes, to which several Files may write.
func (f *File) Same(g *File) bool {
	if f.target == "" || g.target == "" {
		return f.old != nil && g.old != nil && f.old.Mode().IsRegular() && os.SameFile(f.old, g.old)
	}
	return oneFile(f.target, g.target)
}

// Makes reports whether f makes or replaces the file at path, by any names. Neither has to exist
// yet. It is false for devices and pipes.
func (f *File) Makes(path string) bool {
	target, err := follow(path)
	return err == nil && f.target != "" && oneFile(f.target, target)
}

// oneFile reports whether two paths without links name one file, which need not exist.
func oneFile(f, g string) bool {
	dir := filepath.Dir(f)
	a, err := os.Stat(dir)
	if err != nil {
		return false
	}
	b, err := os.Stat(filepath.Dir(g))
	return err == nil && os.SameFile(a, b) && oneName(dir, filepath.Base(f), filepath.Base(g))
}

// oneName reports whether the file system treats a and b as the same name, as some do for upper
// and lower case or for composed and decomposed letters. It tests this: it creates a file with
// a longer form of a and looks for it with the same form of b.
func oneName(dir, a, b string) bool {
	if a == b {
		return true
	}
	long := func(name string, n uint64) string {
		return filepath.Join(dir, fmt.Sprintf(".wholefile-%016x-%s.tmp", n, name))
	}
	n := rand.Uint64()
	probe, err := os.OpenFile(long(a, n), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil { // for example too long a name: assume the same
		return strings.EqualFold(a, b)
	}
	defer os.Remove(probe.Name())
	defer probe.Close()
	made, err := probe.Stat()
	if err != nil {
		return strings.EqualFold(a, b)
	}
	found, err := os.Lstat(long(b, n))
	return err == nil && os.SameFile(made, found)
}
