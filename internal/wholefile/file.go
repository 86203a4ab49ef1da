package wholefile

import (
	"io/fs"
	"os"
	"sync"
)

// File is a file that is being written. Write is for one goroutine; Discard may
// be called by any other to end the work.
type File struct {
	path   string      // as given to Create, for errors
	target string      // what path leads to; empty if file is the destination itself
	old    fs.FileInfo // what path led to, nil if nothing
	file   *os.File    // safe for concurrent use by itself

	mu      sync.Mutex // guards what follows
	failed  error      // the first fault of Write
	settled bool       // all data is on the disk and file is closed
	done    bool       // committed or discarded
}

// Create begins a new content for path. It finds out whether the destination can
// be written and leaves it as it is. The caller owns the File and must end it by
// Commit or Discard.
//
// Sources are files that the caller reads: a path that leads to one of them, by
// any name, hard link, symbolic link or descriptor, is a *SourceError, and nothing
// was touched.
func Create(path string, sources ...fs.FileInfo) (*File, error) {
	f := &File{path: path}
	if err := f.open(sources); err != nil {
		return nil, fault("create", path, err)
	}
	return f, nil
}

// Write appends b to the new content. After a fault every further Write, and
// Commit, returns it, as the content would lack a part.
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

// write is called with mu held. It is let go while a pipe takes the data, which
// may last forever: Discard must be able to end that.
func (f *File) write(b []byte) (int, error) {
	if f.target == "" {
		f.mu.Unlock()
		defer f.mu.Lock()
	}
	return f.file.Write(b)
}

// Discard drops the new content and leaves the destination as it was; what a
// device or pipe has got already stays there. It does nothing after Commit or
// another Discard, or for a nil File. A Write that waits for a pipe's reader
// ends with fs.ErrClosed, on macOS only once the reader goes on.
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
	_ = f.file.Close() // the content is not wanted
	if f.target != "" {
		_ = os.Remove(f.file.Name()) // nobody could do more about it
	}
}
