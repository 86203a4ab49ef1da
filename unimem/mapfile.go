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
// Errors: ErrZeroSize (an empty file), ErrShare (no regular file, a part of a huge page, or a system that this package
// maps no files on), ErrCreate, ErrExhausted (with ErrCreate), ErrPin (with RequirePinned),
// ErrOption (OnHeap, SurfacePerCell, StaleOnClose).
func MapFile(f *os.File, opts ...Option) (*Block, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, &Error{Op: opMapFile, Err: ErrCreate, Cause: err}
	}
	return mapRange(f, info, 0, int(info.Size()), opts)
}

// MapFileAt is MapFile for size bytes of the file from offset on, a multiple of PageSize: a Block that
// begins with a tensor, for an engine that reads every surface from byte 0. Its errors are those
// of MapFile, ErrInvalidAlignment, and ErrSize for a range that the file does not have.
func MapFileAt(f *os.File, offset int64, size int, opts ...Option) (*Block, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, &Error{Op: opMapFile, Size: size, Err: ErrCreate, Cause: err}
	case offset%PageSize != 0:
		return nil, &Error{Op: opMapFile, Size: size, Err: ErrInvalidAlignment,
			Cause: fmt.Errorf("offset %d is not a multiple of %d", offset, PageSize)}
	case offset < 0 || size < 0 || info.Mode().IsRegular() && offset > info.Size()-int64(size):
		return nil, &Error{Op: opMapFile, Size: size, Err: ErrSize,
			Cause: fmt.Errorf("from byte %d on, the file has %d", offset, info.Size())}
	}
	return mapRange(f, info, offset, size, opts)
}

// opMapFile is Error.Op of both.
const opMapFile = "map file"

func mapRange(f *os.File, info os.FileInfo, offset int64, size int, opts []Option) (*Block, error) {
	const op = opMapFile
	c := configure(opts)
	c.Adopted = true
	switch {
	case !info.Mode().IsRegular():
		return nil, &Error{Op: op, Size: size, Err: ErrShare,
			Cause: fmt.Errorf("%s is %v", info.Name(), info.Mode().Type()),
			Hint:  "map a regular file"}
	case size == 0:
		return nil, &Error{Op: op, Err: ErrZeroSize, Hint: "map at least one byte"}
	case c.Heap, c.Foreign:
		return nil, &Error{Op: op, Size: size, Err: ErrOption,
			Hint: "OnHeap and libraries of surfaces do not apply to a mapped file"}
	}
	if err := refuse(c, op, size); err != nil {
		return nil, err
	}
	return recovering(func() (*Block, error) {
		raw, err := mapFile(f, offset, size)
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
