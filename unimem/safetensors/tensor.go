package safetensors

import (
	"fmt"
	"os"

	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/unimem"
)

// Tensor is a tensor of a File: a small value that may be copied.
type Tensor struct {
	file   *File
	shard  *shard
	record *record
}

// Name is the tensor's name.
func (t Tensor) Name() string {
	if t.record == nil {
		return ""
	}
	return t.shard.name(t.record)
}

// DType is the type of the elements.
func (t Tensor) DType() DType {
	if t.record == nil {
		return 0
	}
	return t.record.dtype
}

// Format is the type of the elements as the format names it, such as "F16": that of DType.
func (t Tensor) Format() string { return t.DType().String() }

// Shape returns a copy of the shape; that of a scalar has no axes.
func (t Tensor) Shape() []int {
	if t.record == nil {
		return nil
	}
	return t.shard.shape(t.record)
}

// Size is the length in bytes.
func (t Tensor) Size() int64 {
	if t.record == nil {
		return 0
	}
	return t.record.end - t.record.begin
}

// File is the path of the tensor's file.
func (t Tensor) File() string {
	if t.record == nil {
		return ""
	}
	return t.shard.path
}

// Offset is the offset of the first byte in its file.
func (t Tensor) Offset() int64 {
	if t.record == nil {
		return 0
	}
	return t.shard.data + t.record.begin
}

// Bytes returns the tensor's bytes, dense, row-major and little endian, with cap equal to
// len. It copies nothing. It is nil after Close of the File, and after Clear of the Tape of a loaded
// one. The bytes of a mapped file must not be written.
//
// If another process makes a mapped file shorter, reading bytes that exist no more kills the process. The system sends
// SIGBUS, which Go does not turn into an error. CopyTo and Float16To return ErrChanged instead. Load the file if its
// writers are not trusted.
func (t Tensor) Bytes() []byte {
	b := t.memory()
	if b == nil {
		return nil
	}
	at, end := int64(t.shard.base)+t.Offset(), int64(t.shard.base)+t.Offset()+t.Size()
	return b[at:end:end]
}

// memory returns the whole Block, nil if it is no longer valid.
func (t Tensor) memory() []byte {
	if t.record == nil || t.file.closed.Load() ||
		t.shard.tape != nil && t.shard.tape.Generation() != t.shard.generation {
		return nil
	}
	return t.shard.block.Bytes()
}

// Aligned reports whether the tensor's first byte is at a multiple of its element's size, so that
// View can view it as its type.
func (t Tensor) Aligned() bool {
	return t.record != nil && (int64(t.shard.base)+t.Offset())%int64(t.DType().Size()) == 0
}

// Block returns the Block with the tensor's bytes and their offset in it, for binding: package
// ane makes a tensor of them (ane.OnRange). The File owns the Block. Retaining it, as a bound
// request does, keeps the File open: Close returns unimem.ErrInUse until it is released. Errors:
// ErrClosed, ErrName for the zero Tensor.
func (t Tensor) Block() (*unimem.Block, int, error) {
	if t.record == nil {
		return nil, 0, &Error{Base: errtext.Base{Op: "block", Err: ErrName, Detail: "the zero Tensor"}, Offset: -1}
	}
	if t.memory() == nil {
		return nil, 0, t.fail("block", ErrClosed, "")
	}
	return t.shard.block, t.shard.base + int(t.Offset()), nil
}

// Map maps the tensor again, as a Block of n bytes that begins with it: for an engine that reads every
// surface from byte 0. n is at least Size; bytes after the tensor are those of the file. The tensor's
// offset has to be a multiple of unimem.PageSize (Align, ane-roundtrip weights repack --align), and
// the caller closes the Block. Errors: those of unimem.MapFileAt, ErrClosed, ErrShape.
func (t Tensor) Map(n int) (*unimem.Block, error) {
	switch {
	case t.record == nil || t.file.closed.Load():
		return nil, t.fail("map", ErrClosed, "")
	case int64(n) < t.Size():
		return nil, t.fail("map", ErrShape, fmt.Sprintf("%d bytes, the tensor has %d", n, t.Size()))
	}
	file, err := os.Open(t.shard.path)
	if err != nil {
		return nil, t.fail("map", err, "")
	}
	defer file.Close() // the mapping has a descriptor of its own
	if info, err := file.Stat(); err != nil || info.Size() != t.shard.size {
		return nil, t.fail("map", unimem.ErrChanged, "its size is another than when it was opened")
	}
	b, err := unimem.MapFileAt(file, t.Offset(), n)
	if err != nil {
		return nil, t.fail("map", err, "")
	}
	return b, nil
}

func (t Tensor) fail(op string, err error, detail string) error {
	return &Error{Base: errtext.Base{Op: op, Err: err, Detail: detail}, File: t.File(), Tensor: t.Name(),
		Offset: t.Offset()}
}
