package unimem

import "os"

// Share returns a new descriptor of the Block's memory for another process. Pass it with a message (SCM_RIGHTS) or to a
// child (exec.Cmd.ExtraFiles), and Adopt it there. The caller closes it at any time: the memory exists as long as any
// process has a descriptor or a Block of it.
//
// A process with the descriptor can read and write the whole Block. It can also free pages, which then read as zero
// (fallocate with FALLOC_FL_PUNCH_HOLE). It cannot change the size. Access cannot be revoked.
//
// Errors: ErrClosed, ErrCreate with ErrExhausted (no descriptor is left), ErrShare (memory of the heap has no
// descriptor; a file in /dev/shm has no seals; a surface has its ID).
func (b *Block) Share() (*os.File, error) {
	if err := b.Retain(); err != nil {
		return nil, fail("share", b.Size(), ErrClosed, "share the Block before closing it")
	}
	defer b.Release()
	return recovering(b.back.share)
}

// Adopt makes a Block of memory shared by another process, or by this one: the first size bytes, rounded up to
// PageSize, of a file of Share. The Block has its own descriptor: the caller owns f and may close it at once, and the
// sharing process may close its Block or end at any time. Pages keep their content, and Warm reads them without
// writing. The processes synchronize their accesses.
//
// Adopted Blocks count in Stats.Blocks, but not in Stats.Bytes.
//
// Adopt does not trust the sharing process. The file has to be a memfd with the seals F_SEAL_SHRINK and F_SEAL_SEAL, so
// that it cannot be truncated while mapped. It must have no seal that forbids writing. Its bytes may change at any
// time.
//
// Errors: ErrZeroSize, ErrSize (negative, or with ErrCreate: the file is shorter, or size exceeds the machine's
// memory), ErrSeal, ErrShare (not a file, not a memfd, or one of MFD_HUGETLB; other systems than Linux), ErrCreate,
// ErrExhausted (with ErrCreate), ErrPin (with RequirePinned), ErrOption (OnHeap, SurfacePerCell, a library of
// surfaces).
func Adopt(f *os.File, size int, opts ...Option) (*Block, error) { return adopt(f, size, false, opts) }

// AdoptTape is Adopt with a Tape of the memory, which owns the Block. Its first spans are the bytes that the sharing
// process sees at the same offsets. Errors are those of Adopt.
func AdoptTape(f *os.File, size int, opts ...Option) (*Tape, error) {
	b, err := adopt(f, size, true, opts)
	if err != nil {
		return nil, err
	}
	return tapeOf(b, false), nil
}

// adopt is Adopt of a Block that the caller, or an object of this package, owns.
func adopt(f *os.File, size int, owned bool, opts []Option) (*Block, error) {
	c, err := adoptOptions("adopt", forBlock, size, opts)
	if err != nil {
		return nil, err
	}
	rounded, err := roundSizes("adopt", 1, size)
	if err != nil {
		return nil, err
	}
	if f == nil || *f == (os.File{}) { // every method of the zero File panics
		return nil, fail("adopt", rounded, ErrShare, "pass the file of Share")
	}
	return recovering(func() (*Block, error) {
		raw, err := adoptFile(f, rounded)
		if err != nil {
			return nil, err
		}
		return newBlock(raw, c, new(life), owned)
	})
}
