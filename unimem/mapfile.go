package unimem

import (
	"fmt"
	"os"
)

const kindFile = "file"

// MapFile makes a Block of the whole content of a regular file, mapped read-only: nothing is read
// and nothing is copied until the caller touches a page. Size is exactly the length of the
// file, ReadOnly is true, Backing is "file". The caller owns f and may close it at once.
//
// Writing to Bytes ends the process. So does reading them after another process has truncated
// the file: pass such reads to Guard, or copy the file into other memory. Bytes that another
// process writes to the file appear in the Block.
//
// The Block counts in Stats.Blocks, but not in Stats.Bytes; its pages belong to the page cache.
//
// Errors: ErrZeroSize (an empty file), ErrShare (no regular file, or a system that this package
// maps no files on), ErrCreate, ErrExhausted (with ErrCreate), ErrPin (with RequirePinned),
// ErrOption (OnHeap, SurfacePerCell, StaleOnClose, a library of surfaces).
func MapFile(f *os.File, opts ...Option) (*Block, error) {
	const op = "map file"
	c := configure(opts)
	c.Adopted = true
	info, err := f.Stat()
	if err != nil {
		return nil, &Error{Op: op, Err: ErrCreate, Cause: err}
	}
	size := int(info.Size())
	switch {
	case !info.Mode().IsRegular():
		return nil, &Error{Op: op, Size: size, Err: ErrShare, Cause: fmt.Errorf("%s is %v", info.Name(), info.Mode().Type()),
			Hint: "map a regular file"}
	case size == 0:
		return nil, &Error{Op: op, Err: ErrZeroSize, Hint: "the file is empty"}
	case c.Heap, c.Foreign:
		return nil, &Error{Op: op, Size: size, Err: ErrOption,
			Hint: "OnHeap and libraries of surfaces do not apply to a mapped file"}
	}
	if err := refuse(c, op, size); err != nil {
		return nil, err
	}
	return recovering(func() (*Block, error) {
		raw, err := mapFile(f, size)
		if err != nil {
			return nil, err
		}
		c.ReadOnly = true
		return newBlock(raw, c, new(life), false)
	})
}

// shrinkable is a backing that another process can make shorter.
type shrinkable interface {
	// shrunk reports whether the memory is shorter now than it was when it was mapped.
	shrunk() bool
	// place returns the offset of an address in the memory, of any of its mappings.
	place(at uintptr) (offset uintptr, ok bool)
}
