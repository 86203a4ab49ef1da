package safetensors

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/internal/wholefile"
)

// Writer writes a file. The file appears under its name when Close has written all of it; until
// then the data is in a temporary file beside it. Its methods are safe for concurrent use. A nil or
// zero Writer is closed.
type Writer struct {
	path string
	c    config

	mu      sync.Mutex
	file    *wholefile.File
	head    *builder
	room    int64 // bytes reserved for the header
	fillers int
	failed  error // the first error of the system: the file cannot be completed
	done    bool
}

// Create begins a new file at path, which may exist and does not change until Close. The caller calls Close to complete
// the file, or Abort. metadata may be nil. Close replaces the target of a symbolic link and keeps the link, and the
// permissions of a file that exists. The error matches os.ErrExist for a path that leads to a folder, a pipe, a device
// or a file that only a descriptor refers to. It matches os.ErrPermission for a file that must not be written.
//
// Options: Align, Expect, NoSync.
func Create(path string, metadata map[string]string, opts ...Option) (*Writer, error) {
	head, err := newBuilder(metadata)
	if err != nil {
		return nil, err
	}
	w := &Writer{path: path, c: configure(opts), head: head}
	if w.c.align <= 0 {
		w.c.align = 1
	}
	if bits.OnesCount(uint(w.c.align)) != 1 {
		return nil, w.refused(ErrMisaligned, fmt.Sprintf("an alignment of %d bytes", w.c.align), "give a power of two")
	}
	if w.c.align > maxAlign {
		return nil, w.refused(ErrMisaligned, fmt.Sprintf("an alignment of %d bytes", w.c.align),
			fmt.Sprintf("give %d at most: the data begins there, after the header", maxAlign))
	}
	if !wholefile.Replaceable(path) {
		return nil, w.refused(os.ErrExist, "not a regular file with a name", "name a file to write")
	}
	if w.c.expect <= 0 {
		w.c.expect = 64
	}
	const entry = 128 // bytes of a tensor with a name of ordinary length
	w.room = w.roomFor(int64(lead + len(w.head.json) + 1 + w.c.expect*entry))
	file, err := wholefile.Create(path)
	if err != nil {
		return nil, w.refused(wholefile.Cause(err), "", "")
	}
	if w.c.unsafe {
		file.NoSync()
	}
	w.file = file
	return w, nil
}

// roomFor is where the tensors begin after a header of so many bytes.
func (w *Writer) roomFor(head int64) int64 {
	align := int64(max(w.c.align, dataAlign))
	return (head + align - 1) / align * align
}

// refused is the error of Create.
func (w *Writer) refused(err error, detail, hint string) error {
	return &Error{Base: errtext.Base{Op: "create", Err: err, Detail: detail, Hint: hint}, File: w.path, Offset: -1}
}

func (w *Writer) fault(err error, detail, hint string) error {
	return &Error{Base: errtext.Base{Op: "write", Err: err, Detail: detail, Hint: hint}, File: w.path, Offset: -1}
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
	if padding(name) && w.c.align > 1 {
		return w.fault(ErrDuplicate, "tensor "+quote(name), "names of this form belong to the option Align")
	}
	if err := w.head.check(name, dtype, shape, len(data)); err != nil {
		return w.name(err)
	}
	var pad []byte
	at := w.head.end
	if rest := at % int64(w.c.align); rest != 0 {
		pad = make([]byte, int64(w.c.align)-rest)
		w.head.add(paddingPrefix+strconv.Itoa(w.fillers), U8, []int{len(pad)}, len(pad))
		w.fillers++
	}
	w.head.add(name, dtype, shape, len(data))
	return w.write(pad, data, at)
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
			w.failed = w.fault(wholefile.Cause(err), "", "")
			return w.failed
		}
		at += int64(len(p))
	}
	return nil
}

// Close completes the file and gives it its name. It writes the header, waits until the disk has the data, renames the
// file and waits until the disk has the name. After an error the temporary file is removed, and path is as it was,
// unless only the last of these steps failed. Repeating Close, or Close after Abort, returns ErrClosed.
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
		if own := (*Error)(nil); errors.As(err, &own) {
			return w.name(err)
		}
		return w.fault(wholefile.Cause(err), "", "")
	}
	w.done = true
	if w.c.unsafe {
		return nil
	}
	target, err := wholefile.Target(w.path)
	if err == nil {
		err = syncFolder(filepath.Dir(target))
	}
	if err != nil {
		return w.fault(err, "the file is complete, its name may not survive a loss of power", "")
	}
	return nil
}

func (w *Writer) complete() error {
	if need := int64(lead + len(w.head.json) + 1); need > w.room {
		if err := w.move(w.roomFor(need)); err != nil {
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
	return w.file.Commit()
}

// move moves the tensors to a greater offset, the last ones first.
func (w *Writer) move(room int64) error {
	piece := make([]byte, min(w.head.end, 1<<20))
	for end := w.head.end; end > 0; {
		part := piece[:min(end, int64(len(piece)))]
		end -= int64(len(part))
		if _, err := w.file.ReadAt(part, w.room+end); err != nil {
			return err
		}
		if _, err := w.file.WriteAt(part, room+end); err != nil {
			return err
		}
	}
	w.room = room
	return nil
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
	w.file.Discard()
}
