package unimem

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/internal/iosurface"
)

const kindSurface = "IOSurface"

// surface is an IOSurface. It works with any table of functions, on any system.
type surface struct {
	base
	table *iosurface.Table
	*iosurface.Surface
}

func newSurface(t *iosurface.Table, s *iosurface.Surface) *surface {
	// IOSurfaceLock bounds accesses of the CPU, and does not promise wired pages.
	unpinned := because(opPin, s.Size, ErrPin, ErrPinUnknown,
		"locking an IOSurface does not promise it: open without RequirePinned")
	return &surface{table: t, Surface: s, base: base{
		region: region{mem: bytesAt(s.Base, s.Size), handle: uintptr(s.Ref), id: s.ID, kind: kindSurface,
			unpinned: unpinned},
		unshared: "another process finds an IOSurface by its ID: use AdoptSurface",
	}}
}

func openSurface(t *iosurface.Table, size int) (backing, error) {
	if uint64(size) > iosurface.MaxSize {
		return nil, because("open", size, ErrCreate,
			fmt.Errorf("%w: the size of an IOSurface is a field of 32 bits", ErrSize),
			fmt.Sprintf("at most %d bytes; use several Blocks", iosurface.MaxSize&^uint64(PageSize-1)))
	}
	s, err := iosurface.Open(t, size)
	if err != nil {
		return nil, systemError("open", size, err)
	}
	return newSurface(t, s), nil
}

// systemError wraps an error of a library of surfaces: ErrLock for a surface that could not
// be locked, ErrCreate for everything else. Lack of memory also matches ErrExhausted.
func systemError(op string, size int, err error) *Error {
	var step *iosurface.Error
	if !errors.As(err, &step) {
		return because(op, size, ErrCreate, err, "")
	}
	kind := ErrCreate
	if step.Locking() {
		kind = ErrLock
	}
	// Map looks up an existing surface, so a missing one means lack of memory.
	if step.Exhausted() || op == opMap && step.Missing() {
		return because(op, size, kind, exhausted(err),
			"close idle surfaces, open fewer, or retry later: other processes use surfaces too")
	}
	return because(op, size, kind, err, "")
}

func (s *surface) key() Key { return Key{Kind: kindSurface, Number: uint64(s.ID)} }

// Uses returns how often this process has marked the Block's surface as in use. inUse tells whether any process has,
// such as the driver of a device that works on it. known is false for other memory, after Close, and for a library that
// does not tell.
func (b *Block) Uses() (count int, inUse, known bool) {
	if b.Retain() != nil {
		return 0, false, false
	}
	defer b.Release()
	if s, ok := b.back.(*surface); ok {
		return s.Surface.Uses()
	}
	return 0, false, false
}

// remap looks the surface up by its id. The result is another reference to the surface, at the
// same address: a surface has one address in a process.
func (s *surface) remap() ([]byte, func() error, error) {
	twin, err := iosurface.Lookup(s.table, s.ID, s.Size)
	if err != nil {
		return nil, nil, systemError(opMap, s.Size, err)
	}
	return bytesAt(twin.Base, twin.Size), twin.Close, nil
}

func (s *surface) close(bool) error { return s.Surface.Close() }

// AdoptSurface makes a Block of the first size bytes of an existing surface. It finds the surface by its IOSurfaceID,
// in this process or, if the system permits it, in another. So the frames of a video decoder become Blocks without a
// copy.
//
// The Block owns one reference and one lock from AdoptSurface until Close, independently of the surface's creator.
// Close unlocks and releases it, and the surface lives until its last owner releases it. Size is exactly size. The
// pages keep their content, and Warm reads them without writing. The caller synchronizes its accesses with the creator;
// a creator that waits until the surface is unlocked waits for Close. AdoptSurface does not change the use count of
// IOSurfaceIncrementUseCount, so a pool of frames may reuse the surface. Keep the creator's object (the CVPixelBuffer)
// until Close as well.
//
// Errors: ErrZeroSize, ErrSize (negative, or with ErrCreate: the surface has fewer bytes), ErrCreate (no surface has
// this id), ErrLock, ErrExhausted (with ErrLock), ErrPin (with RequirePinned), ErrOption (SurfacePerCell, OnHeap),
// ErrShare (a system without surfaces).
//
// It is tested against a stand-in on Linux, not with surfaces of macOS frameworks.
func AdoptSurface(id uint32, size int, opts ...Option) (*Block, error) {
	const op = "adopt"
	c, err := adoptOptions(op, forSurface, size, opts)
	if err != nil {
		return nil, err
	}
	if c.Table == nil {
		if c.Table, err = systemSurfaces(op, size); err != nil {
			return nil, err
		}
	}
	return recovering(func() (*Block, error) {
		s, err := iosurface.Lookup(c.Table, id, size)
		var step *iosurface.Error
		switch {
		case errors.As(err, &step) && step.Short():
			return nil, because(op, size, ErrCreate, fmt.Errorf("%w: %w", ErrSize, err),
				"adopt no more bytes than the surface has")
		case err != nil:
			return nil, systemError(op, size, err)
		}
		return newBlock(newSurface(c.Table, s), c, new(life), false)
	})
}
