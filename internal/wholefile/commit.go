package wholefile

import (
	"io"
	"io/fs"
	"os"
)

// Commit writes the new content to the disk and gives it the destination's name. After an
// error the destination is unchanged and the new content is removed. A device or pipe is
// closed. A second Commit, or one after Discard, returns fs.ErrClosed.
func (f *File) Commit() error { return CommitAll(f) }

// CommitAll commits files. It does all steps that need space or time for all of them before it
// renames the first, so that a full disk leaves every destination unchanged. If a rename
// fails, which needs a change of folders or permissions since Create, the files before it are
// replaced and the others are discarded.
func CommitAll(files ...*File) error {
	defer func() {
		for _, f := range files {
			f.Discard()
		}
	}()
	for _, f := range files {
		if err := f.settle(); err != nil {
			return fault("write", f.path, err)
		}
	}
	for _, f := range files {
		if err := f.rename(); err != nil {
			return fault("replace", f.path, err)
		}
	}
	return nil
}

// Replace calls fill to write a new content of path, and commits it if fill returns nil.
// Otherwise path is unchanged and Replace returns the error of fill.
func Replace(path string, fill func(io.Writer) error) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := fill(f); err != nil {
		return err
	}
	return f.Commit()
}

// settle completes everything except the name.
func (f *File) settle() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.done || f.settled {
		return fs.ErrClosed
	}
	f.settled = true
	err := f.failed
	if err == nil && f.target != "" && f.old != nil {
		keepOwner(f.file, f.old)
		err = f.file.Chmod(f.old.Mode().Perm())
	}
	if err == nil && f.target != "" && !f.quick {
		err = f.file.Sync()
	}
	if closed := f.file.Close(); err == nil {
		err = closed
	}
	return err
}

// rename gives the content the destination's name.
func (f *File) rename() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.done {
		return fs.ErrClosed
	}
	if f.target != "" {
		if err := os.Rename(f.file.Name(), f.target); err != nil {
			return err
		}
	}
	f.done = true
	return nil
}
