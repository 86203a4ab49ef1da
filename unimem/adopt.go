package unimem

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/internal/iosurface"
)

// AdoptSurface makes a Block of the first size bytes of an existing surface, found by its
// IOSurfaceID in this process or, if the system permits it, in another. So the frames of a
// video decoder become Blocks without a copy.
//
// The Block owns one reference and one lock from AdoptSurface until Close, independently of the
// surface's creator: Close unlocks and releases it, and the surface lives until its last owner
// releases it. Unlike for other Blocks, Size is exactly size, the pages keep their content,
// and Warm reads them without writing. The caller has to synchronize its accesses with the
// creator; a creator that waits until the surface is unlocked waits for Close. AdoptSurface
// does not change the use count of IOSurfaceIncrementUseCount, so a pool of frames may reuse
// the surface: keep the creator's object (the CVPixelBuffer) until Close as well.
//
// Errors, all *Error: ErrZeroSize, ErrSize (negative, or with ErrCreate: the surface has fewer
// bytes), ErrCreate (no surface has this id), ErrLock, ErrExhausted (with ErrLock), ErrOption
// (SurfacePerCell, OnHeap), ErrShare (a system without surfaces).
//
// It is tested against a stand-in on Linux, not with surfaces of macOS frameworks.
func AdoptSurface(id uint32, size int, opts ...Option) (*Block, error) {
	return adoptFound(size, opts, func(t *iosurface.Table) (*iosurface.Surface, error) {
		return iosurface.Lookup(t, id, size)
	})
}

// adoptFound makes a Block of the surface that find returns for the library that opts name.
func adoptFound(size int, opts []Option, find func(*iosurface.Table) (*iosurface.Surface, error)) (*Block, error) {
	c := configure(opts)
	c.Adopted = true
	if err := refuseAdopt(c, size); err != nil {
		return nil, err
	}
	t, err := surfaceTable("adopt", size, c)
	if err != nil {
		return nil, err
	}
	return recovering(func() (*Block, error) {
		s, err := find(t)
		if err != nil {
			return nil, adoptError(size, err)
		}
		return newBlock(&adopted{surface{t, s}}, c, new(life), false)
	})
}

// refuseAdopt reports sizes and options that do not apply to existing memory.
func refuseAdopt(c config, size int) error {
	const op = "adopt"
	switch {
	case size == 0:
		return &Error{Op: op, Err: ErrZeroSize, Hint: "ask for at least one byte"}
	case size < 0:
		return &Error{Op: op, Size: size, Err: ErrSize, Hint: "a size is a positive number of bytes"}
	case c.Heap:
		return &Error{Op: op, Size: size, Err: ErrOption, Hint: "OnHeap does not apply to existing memory"}
	}
	return refuse(c, op, size)
}

// adoptError adds ErrSize and a hint to the error for a surface that is too small.
func adoptError(size int, err error) error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	var step *iosurface.Error
	if !errors.As(err, &step) || !step.Short() {
		return systemError("adopt", size, err)
	}
	return &Error{Op: "adopt", Size: size, Err: ErrCreate, Cause: fmt.Errorf("%w: %w", ErrSize, err),
		Hint: "adopt no more bytes than the surface has"}
}

// adopted is a surface made by another owner.
type adopted struct{ surface }

// warm only reads, because another owner may be writing.
func (a *adopted) warm() error { look(a.bytes()); return nil }
