package wholefile

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// SourceError says that a destination is a file that its writer reads, under
// whatever name. Create returns it inside a *fs.PathError.
type SourceError struct {
	Source fs.FileInfo // as given to Create
}

func (e *SourceError) Error() string { return "this file is read by the same run" }

// source returns the one of sources that info is. Character devices and sockets are
// none: what is written to a terminal, to /dev/null or to the other end of a
// connection changes nothing that is read.
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

// Old returns what the destination was when Create found it, nil if there was
// nothing.
func (f *File) Old() fs.FileInfo { return f.old }

// Same reports whether f and g would replace the same file, whatever names lead
// to it. Devices and pipes, which take any number of contents, are the same as
// nothing.
func (f *File) Same(g *File) bool {
	if f.target == "" || g.target == "" {
		return f.old != nil && g.old != nil && f.old.Mode().IsRegular() && os.SameFile(f.old, g.old)
	}
	dir := filepath.Dir(f.target)
	a, err := os.Stat(dir)
	if err != nil {
		return false
	}
	b, err := os.Stat(filepath.Dir(g.target))
	return err == nil && os.SameFile(a, b) && oneName(dir, filepath.Base(f.target), filepath.Base(g.target))
}

// oneName reports whether the file system takes a and b for the same name, as some
// do with upper and lower case or with composed and decomposed letters. The folder
// itself answers: a file made under a longer form of a is looked for under that of b.
func oneName(dir, a, b string) bool {
	if a == b {
		return true
	}
	long := func(name string, n uint64) string {
		return filepath.Join(dir, fmt.Sprintf(".wholefile-%016x-%s.tmp", n, name))
	}
	n := rand.Uint64()
	probe, err := os.OpenFile(long(a, n), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil { // too long a name: the stricter answer
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
