package unimem

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
)

const kindFile = "file"

// MapFile makes a Block of the whole content of a regular file, mapped read-only: nothing is read and nothing is copied
// until the caller touches a page. Size is exactly the length of the file; Pages are whole, and read as zero after its
// end. ReadOnly is true, Backing is "file". The caller owns f and may close it at once.
//
// Writing to Bytes or Pages ends the process. So does reading them after another process has truncated the file: pass such reads
// to Guard, or copy the file into other memory. Bytes that another process writes to the file appear in the Block.
//
// The Block counts in Stats.Blocks, but not in Stats.Bytes; its pages belong to the page cache.
//
// Errors: ErrZeroSize (an empty file), ErrShare (no regular file, a part of a huge page, or a system that this package
// maps no files on), ErrCreate, ErrExhausted (with ErrCreate), ErrPin (with RequirePinned), ErrOption (OnHeap,
// SurfacePerCell, StaleOnClose).
func MapFile(f *os.File, opts ...Option) (*Block, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, because(opMapFile, 0, ErrCreate, err, "")
	}
	return MapFileAt(f, 0, int(info.Size()), opts...)
}

// opMapFile is Error.Op of MapFile.
const opMapFile = "map file"

// MapFileAt is MapFile for size bytes of the file from offset on, a multiple of PageSize. So a Block begins with a
// tensor, for an engine that reads every surface from byte 0. If the file goes on after the range, so do the Pages, to
// the end of a page of the system. Its errors are those of MapFile, ErrInvalidAlignment, and
// ErrSize for a range that the file does not have.
func MapFileAt(f *os.File, offset int64, size int, opts ...Option) (*Block, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, because(opMapFile, size, ErrCreate, err, "")
	case !info.Mode().IsRegular():
		return nil, because(opMapFile, size, ErrShare, fmt.Errorf("%s is %v", info.Name(), info.Mode().Type()),
			"map a regular file")
	case offset%PageSize != 0:
		return nil, because(opMapFile, size, ErrInvalidAlignment,
			fmt.Errorf("offset %d is not a multiple of %d", offset, PageSize), "")
	case offset < 0 || size < 0 || offset > info.Size()-int64(size):
		return nil, because(opMapFile, size, ErrSize,
			fmt.Errorf("from byte %d on, the file has %d", offset, info.Size()), "")
	}
	c, err := adoptOptions(opMapFile, forBlock, size, opts)
	if err != nil {
		return nil, err
	}
	c.ReadOnly = true
	return recovering(func() (*Block, error) {
		raw, err := mapFile(f, offset, size)
		if err != nil {
			return nil, err
		}
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

// Guard calls f, which reads Blocks of MapFile, and returns its error. The error matches ErrChanged in three cases. A
// file became shorter, and f has ended early because it read pages that exist no more. A system call of f that reads
// such pages failed (EFAULT). Or f has returned nil, but a file is shorter than when it was mapped, so that the end of
// its last page reads as zeros.
//
// A fault may be in any Mapping of the Blocks, which must be open until Guard returns. Only the goroutine of f is
// guarded, and goroutines that set debug.SetPanicOnFault and pass their panics on. Faults at other addresses, and other
// panics, reach the caller of Guard as panics. Deferred calls of f run in every case.
func Guard(f func() error, blocks ...*Block) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		at, ok := faultAddress(v)
		if !ok {
			panic(v)
		}
		for _, b := range blocks {
			if file := b.file(); file != nil {
				if offset, ok := file.place(at); ok {
					err = b.changed(fmt.Errorf("byte %d of the file exists no more", offset))
					return
				}
			}
		}
		panic(v)
	}()
	err = f()
	refused := errors.Is(err, syscall.EFAULT) // by a system call that reads the pages
	if err != nil && !refused {
		return err
	}
	for _, b := range blocks {
		if b.file() != nil && (refused || b.shorter()) {
			return b.changed(nil)
		}
	}
	return err
}

// file returns the file that b maps, or nil.
func (b *Block) file() shrinkable {
	if b == nil {
		return nil
	}
	file, _ := b.back.(shrinkable)
	return file
}

// shorter reports whether the file of b is shorter than it was when it was mapped.
func (b *Block) shorter() bool {
	if !b.life.retain() {
		return false
	}
	defer b.life.release()
	return b.file().shrunk()
}

func (b *Block) changed(cause error) error {
	return because("read", len(b.mem), ErrChanged, cause, "open the file again, or load it into memory of its own")
}

// faultAddress returns the address of a memory fault that was recovered. The panic may come
// from another goroutine, wrapped in an error.
func faultAddress(v any) (uintptr, bool) {
	err, ok := v.(error)
	if !ok {
		return 0, false
	}
	var fault interface {
		error
		Addr() uintptr
	}
	if !errors.As(err, &fault) {
		return 0, false
	}
	return fault.Addr(), true
}
