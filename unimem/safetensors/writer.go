package safetensors

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// Writer writes a file. The file appears under its name when Close has written all of it; until
// then the data is in a temporary file beside it. Its methods are safe for concurrent use. A nil or
// zero Writer is closed.
type Writer struct {
	path, temp string
	c          config

	mu      sync.Mutex
	file    *os.File
	head    *builder
	room    int64 // bytes reserved for the header
	fillers int
	failed  error // the first error of the system: the file cannot be completed
	done    bool
}

// Create begins a new file at path, which may exist and does not change until Close. The caller calls
// Close to complete the file, or Abort. metadata may be nil. Close replaces the target of a symbolic link and keeps
// the link. The error matches os.ErrExist for a path that leads to a folder, a pipe or a device.
//
// Options: Align, Expect, NoSync.
func Create(path string, metadata map[string]string, opts ...Option) (*Writer, error) {
	w := &Writer{path: path, c: configure(opts), head: newBuilder(metadata)}
	if w.head.fault != nil {
		return nil, w.head.fault
	}
	if w.c.align <= 0 {
		w.c.align = 1
	}
	if bits.OnesCount(uint(w.c.align)) != 1 {
		return nil, w.fault(ErrMisaligned, fmt.Sprintf("an alignment of %d bytes", w.c.align), "give a power of two")
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		w.path = real
		if info, err := os.Stat(real); err == nil && !info.Mode().IsRegular() {
			return nil, w.fault(os.ErrExist, "not a regular file: "+info.Mode().String(), "name a file to write")
		}
	}
	if w.c.expect <= 0 {
		w.c.expect = 64
	}
	const entry = 128 // bytes of a tensor with a name of ordinary length
	align := int64(max(w.c.align, dataAlign))
	w.room = (int64(lead+len(w.head.json)+1+w.c.expect*entry) + align - 1) / align * align
	if err := w.open(); err != nil {
		return nil, w.fault(err, "", "")
	}
	return w, nil
}

// open makes the temporary file, with the permissions that a new file gets.
func (w *Writer) open() error {
	for range 100 {
		suffix := strconv.FormatUint(rand.Uint64(), 36) + ".tmp"
		w.temp = filepath.Join(filepath.Dir(w.path), "."+filepath.Base(w.path)+"."+suffix)
		f, err := os.OpenFile(w.temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		w.file = f
		return err
	}
	return os.ErrExist
}

func (w *Writer) fault(err error, detail, hint string) error {
	return &Error{Op: "write", File: w.path, Offset: -1, Err: err, Detail: detail, Hint: hint}
}

// Add writes a tensor after the others. data is dense, row-major and little endian; the caller
// may change it after Add has returned.
//
// Errors: ErrDType, ErrShape (a negative axis, or data of another length), ErrDuplicate,
// ErrHeader (a name that is not UTF-8, or __metadata__), ErrClosed, and those of the system,
// after which the Writer can only be aborted.
func (w *Writer) Add(name string, dtype DType, shape []int, data []byte) error {
	if w == nil {
		return (&Writer{}).usable()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable(); err != nil {
		return err
	}
	if Padding(name) && w.c.align > 1 {
		return w.fault(ErrDuplicate, "tensor "+quote(name), "names of this form belong to the option Align")
	}
	item := Item{name, dtype, shape, data}
	if rest := w.head.end % int64(w.c.align); rest != 0 {
		before := *w.head
		pad := make([]byte, int64(w.c.align)-rest)
		filler := Item{paddingPrefix + strconv.Itoa(w.fillers), U8, []int{len(pad)}, pad}
		at := w.head.end
		if err := w.head.add(&filler); err != nil {
			return w.name(err)
		}
		if err := w.head.add(&item); err != nil {
			delete(w.head.names, filler.Name)
			w.head.json, w.head.end = before.json, before.end
			return w.name(err)
		}
		w.fillers++
		return w.write(pad, data, at)
	}
	at := w.head.end
	if err := w.head.add(&item); err != nil {
		return w.name(err)
	}
	return w.write(nil, data, at)
}

// name gives an error of the builder the file's path.
func (w *Writer) name(err error) error {
	var e *Error
	if errors.As(err, &e) {
		e.File = w.path
	}
	return err
}

func (w *Writer) usable() error {
	switch {
	case w.done || w.head == nil:
		return w.fault(ErrClosed, "", "create the file again")
	case w.failed != nil:
		return w.failed
	}
	return nil
}

// write writes padding and data at an offset of the tensors.
func (w *Writer) write(pad, data []byte, at int64) error {
	for _, p := range [][]byte{pad, data} {
		if len(p) == 0 {
			continue
		}
		if _, err := w.file.WriteAt(p, w.room+at); err != nil {
			w.failed = w.fault(err, "", "")
			return w.failed
		}
		at += int64(len(p))
	}
	return nil
}

// Close completes the file and gives it its name: it writes the header, waits until the disk
// has the data, renames the file and waits until the disk has the name. After an error the
// temporary file is removed, and path is as it was, unless only the last of these steps
// failed. Repeating Close, or Close after Abort, returns ErrClosed.
func (w *Writer) Close() error {
	if w == nil {
		return (&Writer{}).usable()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done || w.head == nil {
		return w.usable()
	}
	if err := w.usable(); err != nil {
		w.discard()
		return err
	}
	if err := w.complete(); err != nil {
		w.discard()
		return w.fault(err, "", "")
	}
	w.done = true
	if w.c.unsafe {
		return nil
	}
	if err := syncFolder(filepath.Dir(w.path)); err != nil {
		return w.fault(err, "the file is complete, its name may not survive a loss of power", "")
	}
	return nil
}

func (w *Writer) complete() error {
	need := int64(lead + len(w.head.json) + 1)
	if need > w.room {
		if err := w.move(need); err != nil {
			return err
		}
	}
	head, err := w.head.text(int(w.room))
	if err != nil {
		return err
	}
	if _, err := w.file.WriteAt(head, 0); err != nil {
		return err
	}
	if !w.c.unsafe {
		if err := w.file.Sync(); err != nil {
			return err
		}
	}
	if err := w.file.Close(); err != nil {
		return err
	}
	return os.Rename(w.temp, w.path)
}

// move writes the tensors to another temporary file, with more room for the header.
func (w *Writer) move(need int64) error {
	old, oldName, from := w.file, w.temp, w.room
	align := int64(max(w.c.align, dataAlign))
	w.room = (need + align - 1) / align * align
	err := w.open()
	if err == nil {
		_, err = w.file.Seek(w.room, io.SeekStart)
	}
	if err == nil {
		_, err = io.Copy(w.file, io.NewSectionReader(old, from, w.head.end))
	}
	_ = old.Close()        // it was only read since
	_ = os.Remove(oldName) // a failure leaves the temporary file
	return err
}

// Abort removes the temporary file. It does nothing after Close or another Abort, or for nil.
func (w *Writer) Abort() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.discard()
}

func (w *Writer) discard() {
	if w.done {
		return
	}
	w.done = true
	if w.file != nil {
		_ = w.file.Close() // the content is discarded
	}
	_ = os.Remove(w.temp) // a failure leaves the temporary file
}
