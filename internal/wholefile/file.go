package wholefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
)

// File is a file that is being written. One goroutine at a time may call Write, WriteAt and ReadAt; any goroutine
// may call Discard to end the work.
type File struct {
	path   string      // the path given to Create, for errors
	target string      // the path after following links; empty if file is the destination itself
	old    fs.FileInfo // the destination at Create, nil if there was none
	file   *os.File    // safe for concurrent use

	mu      sync.Mutex // guards the fields below
	failed  error      // the first error of Write and WriteAt
	quick   bool       // Commit does not wait for the disk
	settled bool       // all data is on the disk and file is closed
	done    bool       // committed or discarded
}

// Create begins a new content for path. It checks that the destination can be written, and does
// not change it. The caller owns the File and must call Commit or Discard.
//
// Sources are files that the caller reads. If path leads to one of them, by any name, hard link, symbolic link or
// descriptor, Create changes nothing. The error is a *SourceError.
func Create(path string, sources ...fs.FileInfo) (*File, error) {
	f := &File{path: path}
	if err := f.open(sources); err != nil {
		return nil, fault("create", path, err)
	}
	return f, nil
}

// Write appends b to the new content. After an error, Write and Commit return the same error,
// because a part of the content is missing.
func (f *File) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed != nil {
		return 0, f.failed
	}
	n, err := f.write(b)
	f.failed = fault("write", f.path, err)
	return n, f.failed
}

// write is called with mu held. It unlocks mu during a write to a pipe, which may block forever
// and which Discard must be able to end.
func (f *File) write(b []byte) (int, error) {
	if f.target == "" {
		f.mu.Unlock()
		defer f.mu.Lock()
	}
	return f.file.Write(b)
}

// WriteAt writes b at an offset of the new content. Its errors are like those of Write; a pipe has no offsets.
func (f *File) WriteAt(b []byte, at int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed != nil {
		return 0, f.failed
	}
	n, err := f.file.WriteAt(b, at)
	f.failed = fault("write", f.path, err)
	return n, f.failed
}

// ReadAt reads what was written at an offset. It fails unless the file is Replaceable.
func (f *File) ReadAt(b []byte, at int64) (int, error) {
	n, err := f.file.ReadAt(b, at)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fault("read", f.path, err)
	}
	return n, err
}

// NoSync has Commit not wait until the disk has the data: a loss of power soon after it may leave an empty file.
func (f *File) NoSync() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.quick = true
}

// Discard removes the new content and leaves the destination unchanged; it cannot take back
// data written to a device or pipe. It does nothing after Commit or another Discard, or for a
// nil File. A Write that waits for a pipe's reader returns fs.ErrClosed, on macOS only after
// the reader continues.
func (f *File) Discard() {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.discard()
}

func (f *File) discard() {
	if f.done {
		return
	}
	f.done = true
	_ = f.file.Close() // the content is discarded
	if f.target != "" {
		_ = os.Remove(f.file.Name()) // a failure leaves the temporary file
	}
}
