package unimem

import "os"

// Share returns a new descriptor of the Block's memory for another process: pass it beside a
// message (SCM_RIGHTS) or to a child (exec.Cmd.ExtraFiles), and Adopt it there. The caller
// closes it, whenever it likes: the memory lives as long as a descriptor or a Block of it
// does, in any process.
//
// Whoever has the descriptor can read and write all of the Block for good, and can release
// pages of it, which then read as zero (fallocate with FALLOC_FL_PUNCH_HOLE); its size cannot
// change. There is no taking it back.
//
// Errors: ErrClosed, ErrCreate with ErrExhausted (no descriptor left), ErrShare for memory that has none: the
// heap, and surfaces, which have SharePort.
func (b *Block) Share() (*os.File, error) {
	if err := b.Retain(); err != nil {
		return nil, &Error{Op: "share", Size: b.size(), Err: ErrClosed, Hint: "share the Block before closing it"}
	}
	defer b.Release()
	return recovering(b.back.share)
}

// Adopt makes a Block of memory that another process shares, or this one: the first size
// bytes, rounded up to PageSize, of a file that Share returned. The Block has a descriptor
// of its own, so f stays the caller's and may be closed at once; when the sharer closes its
// Block or ends has no effect on it. Pages hold what was written before, Warm reads them
// without writing, and ordering accesses between the processes is up to them.
//
// Adopted Blocks count in Stats.Blocks and not in Stats.Bytes: the memory is its maker's.
//
// A sharer is not trusted. The file has to be a memfd with the seals F_SEAL_SHRINK and
// F_SEAL_SEAL, so that nobody can cut it short under the mapping, and without those that
// forbid writing. Its bytes may change at any time.
//
// Errors: ErrZeroSize, ErrSize (negative, or with ErrCreate: the file is shorter, or larger
// than the machine's memory), ErrSeal, ErrShare (no file, or no memfd; other systems than
// Linux), ErrCreate, ErrExhausted (with ErrCreate), ErrPin (with RequirePinned), ErrOption
// (OnHeap, SurfacePerCell, a library of surfaces).
func Adopt(f *os.File, size int, opts ...Option) (*Block, error) {
	c := configure(opts)
	c.Adopted = true
	if err := refuseAdopt(c, size); err != nil {
		return nil, err
	}
	if c.Table != nil {
		return nil, &Error{Op: "adopt", Size: size, Err: ErrOption, Hint: "a file is no surface: adopt it without a library"}
	}
	rounded, err := roundSize("adopt", size)
	if err != nil {
		return nil, err
	}
	if err := checkMemory("adopt", rounded); err != nil {
		return nil, err
	}
	if f == nil {
		return nil, &Error{Op: "adopt", Size: rounded, Err: ErrShare, Hint: "pass the file that Share returned"}
	}
	return recovering(func() (*Block, error) {
		raw, err := adoptFile(f, rounded)
		if err != nil {
			return nil, err
		}
		return newBlock(raw, c, new(life), false)
	})
}
