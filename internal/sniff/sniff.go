package sniff

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/anekit/anekit/internal/wholefile"
)

// Found is what a path leads to.
type Found struct {
	Kind Kind
	Path string
	What string // completes "PATH is": "a Git LFS pointer to a file of 7873600 bytes"
	Next string // what to do: "run git lfs pull in its repository"
	Err  error  // of the system, for Missing: it matches fs.ErrNotExist, fs.ErrPermission, ...
}

// Absent reports whether something stands where a file should be: a pointer to it, a page that a server sent instead, or
// nothing.
func (f Found) Absent() bool {
	switch f.Kind {
	case LFS, Annex, HTML, XML, Empty, Missing:
		return true
	}
	return false
}

// Foreign reports whether a reader of one kind should say what the path is instead of what it missed: the thing is known
// to be of another kind.
func (f Found) Foreign(own Kind) bool {
	switch f.Kind {
	case own, Missing, Binary:
		return false
	}
	return true
}

// found describes a thing in the words of its kind.
func found(k Kind, path string) Found {
	what, next := k.words()
	return Found{Kind: k, Path: path, What: what, Next: next}
}

// Enough is how many first bytes of a file decide what it is.
const Enough = 1024

// Path looks at a file or folder. It follows links.
func Path(path string) Found {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return missing(path, err)
	case info.IsDir():
		return folder(path)
	case !info.Mode().IsRegular():
		return found(Stream, path)
	}
	file, err := wholefile.Open(path)
	if err != nil {
		return missing(path, err)
	}
	defer file.Close() // it was only read
	return File(file, path)
}

// File looks at an open file that is called path in words.
func File(file *os.File, path string) Found {
	info, err := file.Stat()
	if err != nil {
		return missing(path, err)
	}
	start := make([]byte, min(Enough, max(info.Size(), 0)))
	n, err := file.ReadAt(start, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return missing(path, err)
	}
	return Start(path, start[:n], info.Size())
}

// missing describes a path that leads to nothing that can be read.
func missing(path string, err error) Found {
	if errors.Is(err, fs.ErrNotExist) {
		if f, ok := hub(path); ok {
			f.Err = err
			return f
		}
	}
	f := found(Missing, path)
	f.Err = wholefile.Cause(err)
	switch {
	case errors.Is(err, fs.ErrPermission):
		f.What, f.Next = "not readable: "+f.Err.Error(), "make it readable"
	case !errors.Is(err, fs.ErrNotExist):
		f.What = "not readable: " + f.Err.Error()
	case filepath.Base(path) == "weight.bin":
		f.Next = "get the file, or name its folder with --model-path"
	}
	return f
}
