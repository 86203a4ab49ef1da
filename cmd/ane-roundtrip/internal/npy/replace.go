package npy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// replaceFile has fill write a temporary file beside path and renames it to path
// when all went well. Otherwise it removes it and leaves path as it was.
func replaceFile(path string, fill func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	old, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if old != nil {
		// Asking for write access honours a file that is write-protected, which a
		// rename would not, and fails for a folder.
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		if !old.Mode().IsRegular() {
			return errors.Join(fill(f), f.Close())
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	f, err := createBeside(path)
	if err != nil {
		return err
	}
	err = fill(f)
	if err == nil && old != nil {
		err = f.Chmod(old.Mode().Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error says more
		return err
	}
	return nil
}

// createBeside makes a new file in the folder of path. Unlike os.CreateTemp it
// leaves permissions to the umask, as the file is to stay.
func createBeside(path string) (*os.File, error) {
	for try := 0; ; try++ {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".npy-%016x.tmp", rand.Uint64()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if try < 100 && errors.Is(err, fs.ErrExist) {
			continue
		}
		return f, err
	}
}
