package kv

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/wholefile"
)

// files is what SaveFile and RestoreFile need of a file system. Tests put failures and losses of power below it.
type files interface {
	create(path string) (file, error) // a new file
	open(path string) (file, int64, error)
	rename(from, to string) error
	remove(path string) error
	syncDir(path string) error
	list(dir string) ([]string, error)
	// sweep removes a file that create made, unless another process still writes it, which systems with locks know.
	sweep(path string) error
}

// file is an open file.
type file interface {
	io.ReadWriteCloser
	Sync() error
}

// vectored is a file that moves several parts of memory at once, all of them or with an error.
type vectored interface {
	writev(parts [][]byte) error
	readv(parts [][]byte, offset int64) error
}

// writeTo returns what writes parts to w, and the least bytes of a part that is not copied together with others.
func writeTo(w io.Writer) (write func(parts [][]byte) error, least int) {
	if v, ok := w.(vectored); ok {
		return v.writev, vectorBytes
	}
	return func(parts [][]byte) error {
		for _, b := range parts {
			n, err := w.Write(b)
			if err == nil && n < len(b) {
				err = io.ErrShortWrite
			}
			if err != nil {
				return err
			}
		}
		return nil
	}, directBytes
}

// vectorBytes is the least bytes of a part of memory for which a call with one part more takes less than a copy.
// directBytes is the same for a call of its own.
const vectorBytes, directBytes = 1 << 10, 16 << 10

// whole calls move with the parts that are left until none is. It changes parts.
func whole(parts [][]byte, move func(parts [][]byte) (int, error)) error {
	for len(parts) > 0 {
		n, err := move(parts[:min(len(parts), maxPieces)])
		if n < 1 && err == nil {
			err = io.ErrUnexpectedEOF
		}
		for ; n > 0 && n >= len(parts[0]); parts = parts[1:] {
			n -= len(parts[0])
		}
		if n > 0 {
			parts[0] = parts[0][n:]
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// system is the operating system's files.
type system struct{}

func (system) create(path string) (file, error) {
	for {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return nil, err
		}
		if claim(f, true) && same(f, path) {
			return vectors{f}, nil
		}
		_ = f.Close() // another process has swept it
	}
}

// same reports whether path still names f.
func same(f *os.File, path string) bool {
	own, err1 := f.Stat()
	named, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(own, named)
}

func (system) sweep(path string) error {
	if !lockable {
		return os.Remove(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // the lock lasts as long as the file is open
	if !claim(f, false) || !same(f, path) {
		return nil
	}
	return os.Remove(path)
}

func (system) open(path string) (file, int64, error) {
	f, err := wholefile.Open(path)
	if errors.Is(err, wholefile.ErrIrregular) {
		err = fmt.Errorf("%w: %w", err, ErrCorrupt)
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, closing(f, err)
	}
	return vectors{f}, info.Size(), nil
}

// rename replaces files, not pipes and devices. The new file gets the permissions of the one that it replaces.
func (system) rename(from, to string) error {
	info, err := os.Stat(to)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file: %v: %w", to, info.Mode(), os.ErrExist)
	}
	if err == nil {
		if err := os.Chmod(from, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return os.Rename(from, to)
}

func (system) remove(path string) error { return os.Remove(path) }

// syncDir makes renames in a folder durable. Windows has no such call.
func (system) syncDir(path string) error {
	if host.Windows {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return closing(d, d.Sync())
}

func (system) list(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// closing closes f and returns the first error.
func closing(f io.Closer, err error) error {
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// replace writes path through a temporary file: afterwards path is the old file or the new one, whole and durable.
// After an error it may be either: if syncing the folder failed, it is the new one. Where files have locks, the
// temporary file keeps its own until it has its name.
func replace(fs files, path string, write func(io.Writer) error) error {
	name := temporary(path)
	f, err := fs.create(name)
	if err != nil {
		return err
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err == nil && lockable {
		err = fs.rename(name, path)
	}
	err = closing(f, err)
	if err == nil && !lockable {
		err = fs.rename(name, path)
	}
	if err != nil {
		_ = fs.remove(name) // the first failure is the one to report
		return err
	}
	return fs.syncDir(filepath.Dir(path))
}
