package unimem

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/unimem/internal/iosurface"
)

// AdoptSurface makes a Block of the first size bytes of the surface with this id. It is for
// package surfaces, whose Library.Adopt documents it.
func AdoptSurface(t *iosurface.Table, id uint32, size int, opts ...Option) (*Block, error) {
	c := configure(opts)
	c.adopted = true
	if !c.foreign {
		c.foreign, c.table = true, t
	}
	if err := c.refuseAdopt(size); err != nil {
		return nil, err
	}
	if c.table != t {
		return nil, &Error{Op: "adopt", Size: size, Err: ErrOption, Hint: "adopt from the library that the option is of"}
	}
	return adoptFrom(t, size, c, func() (*iosurface.Surface, error) { return iosurface.Lookup(t, id, size) })
}

// adoptFrom makes a Block of the surface that find finds.
func adoptFrom(t *iosurface.Table, size int, c config, find func() (*iosurface.Surface, error)) (*Block, error) {
	return recovering(func() (*Block, error) {
		s, err := find()
		if err != nil {
			return nil, adoptError(size, err)
		}
		return newBlock(&adopted{surface{t, s}}, c, new(life), false)
	})
}

// refuseAdopt answers sizes and options that have no meaning for memory that exists.
func (c config) refuseAdopt(size int) error {
	const op = "adopt"
	switch {
	case size == 0:
		return &Error{Op: op, Err: ErrZeroSize, Hint: "ask for at least one byte"}
	case size < 0:
		return &Error{Op: op, Size: size, Err: ErrSize, Hint: "a size is a positive number of bytes"}
	case c.heap:
		return &Error{Op: op, Size: size, Err: ErrOption, Hint: "OnHeap has no meaning for memory that exists"}
	}
	return c.refuse(op, size)
}

// adoptError tells a surface that is too small from other failures: that is for the caller
// to mend.
func adoptError(size int, err error) error {
	var step *iosurface.Error
	if !errors.As(err, &step) || !step.Short() {
		return systemError("adopt", size, err)
	}
	return &Error{Op: "adopt", Size: size, Err: ErrCreate, Cause: fmt.Errorf("%w: %w", ErrSize, err),
		Hint: "ask for no more than the surface has"}
}

// adopted is a surface that somebody else filled.
type adopted struct{ surface }

// warm reads, because others may be writing.
func (a *adopted) warm() error { look(a.bytes()); return nil }
