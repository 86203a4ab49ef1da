package blob

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/anekit/anekit/internal/sniff"
	"github.com/anekit/anekit/internal/wholefile"
)

// Sizes in bytes and constants of the format; see the package comment.
const (
	headerSize = 64
	metaSize   = 64
	alignment  = 64
	version    = 2
	sentinel   = 0xDEADBEEF
)

// First is the offset of a file's first entry.
const First = headerSize

// File is an open weight file. Any number of goroutines may use it.
type File struct {
	r      io.ReaderAt
	size   int64
	name   string
	count  uint32
	closer io.Closer // nil if the caller owns the reader
	closed atomic.Bool

	mu       sync.Mutex
	warnings []string
}

// maxWarnings is the largest number of warnings.
const maxWarnings = 100

// Open opens the weight file at path, which must be a regular file. The caller closes it. Open does not read payloads.
// Errors: fs.ErrNotExist and others of the system, fs.ErrInvalid for what is no regular file, and ErrFormat,
// ErrVersion, ErrCount for a header that is none.
func Open(path string) (*File, error) {
	r, err := wholefile.Open(path)
	if errors.Is(err, wholefile.ErrIrregular) {
		err = irregular()
	}
	if err != nil {
		return nil, systemError(path, err)
	}
	var f *File
	info, err := r.Stat()
	if err != nil {
		err = systemError(path, err)
	} else if f, err = NewReader(r, info.Size(), path); err == nil {
		f.closer = r
		return f, nil
	}
	r.Close()
	return nil, err
}

func irregular() error { return refused(ErrFormat, "name a weight file", "not a regular file") }

// systemError wraps an error of the system about path without repeating path. An error of this package gets the path.
func systemError(path string, err error) *Error {
	if own, ok := errors.AsType[*Error](err); ok {
		e := *own
		e.File = path
		return &e
	}
	msg := err.Error()
	var p *os.PathError
	if errors.As(err, &p) {
		msg = "cannot " + p.Op + ": " + p.Err.Error()
	}
	return &Error{File: path, Offset: -1, Msg: msg, Err: err}
}

// NewReader reads a weight file of size bytes from r, which the caller owns. The name appears in errors. What is known
// to be of another kind, such as a Git LFS pointer, is ErrFormat and called what it is.
func NewReader(r io.ReaderAt, size int64, name string) (*File, error) {
	f := &File{r: r, size: size, name: name}
	err := f.header()
	if errors.Is(err, ErrFormat) {
		start := make([]byte, min(sniff.Enough, max(size, 0)))
		if f.read(start, 0) == nil {
			if found := sniff.Start(name, start, size); found.Foreign(sniff.Weights) {
				return nil, f.fault(ErrFormat, -1, found.Next, "not a weight file: it is %s", found.What)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// header reads and checks the header.
func (f *File) header() error {
	if f.size < headerSize {
		return f.fault(ErrFormat, 0, "a weight file starts with a header of 64 bytes",
			"%d bytes are too few for a weight file", f.size)
	}
	var h header
	if err := f.decode(&h, 0); err != nil {
		return err
	}
	f.count = h.Count
	switch h.Version {
	case version:
	case 1:
		return f.fault(ErrVersion, 4, "write the file again as version 2",
			"version 1 of the format is not supported")
	default:
		return f.fault(ErrFormat, 4, "check the path; a file of raw numbers lacks the header of a weight file",
			"not a weight file: its header does not say version %d", version)
	}
	if h.Zeros != (header{}).Zeros {
		f.warn("byte 8: the header has more than count and version; ignored")
	}
	if f.count == 0 {
		f.warn("byte 0: the header says 0 entries; entries are still read by offset")
	}
	return nil
}

// Close closes the file. A second Close does nothing. The error is that of the system, in an *Error.
func (f *File) Close() error {
	if f.closed.Swap(true) || f.closer == nil {
		return nil
	}
	if err := f.closer.Close(); err != nil {
		return systemError(f.name, err)
	}
	return nil
}

// Warnings returns the deviations from the format that were found so far, each once, at most 100.
func (f *File) Warnings() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.warnings)
}

func (f *File) warn(format string, args ...any) {
	w := fmt.Sprintf(format, args...)
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.warnings) < maxWarnings && !slices.Contains(f.warnings, w) {
		f.warnings = append(f.warnings, w)
	}
}

func (f *File) fault(sentinel error, offset int64, hint, format string, args ...any) *Error {
	return &Error{File: f.name, Offset: offset, Msg: fmt.Sprintf(format, args...), Hint: hint, Err: sentinel}
}

// read fills dst from offset. The caller has checked both against the size.
func (f *File) read(dst []byte, offset int64) error {
	n, err := 0, os.ErrClosed
	if !f.closed.Load() {
		n, err = f.r.ReadAt(dst, offset)
	}
	switch {
	case n == len(dst) && !errors.Is(err, os.ErrClosed):
		return nil
	case errors.Is(err, os.ErrClosed):
		return f.fault(ErrClosed, -1, "close it after the last use", "weight file is closed")
	case err == nil || errors.Is(err, io.EOF):
		return f.fault(ErrBounds, offset+int64(n), "", "the file has become shorter since it was opened")
	}
	e := systemError(f.name, err)
	e.Offset = offset
	return e
}
