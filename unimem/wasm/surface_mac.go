//go:build darwin || macrules

package wasm

import (
	"bytes"
	"errors"
	"os"

	"github.com/anekit/anekit/internal/libsystem"
	"github.com/anekit/anekit/unimem"
)

// overlay maps surfaces over the memory of a guest. own is a second mapping of the guest's Block, made for the first
// surface: the system has no other way back to the pages under a surface. Never run on a Mac.
type overlay struct {
	guest *unimem.Block
	own   uintptr
}

// move copies the pages of the guest's range that hold more than zeros to the surface. Pages that were never used are
// zeros too: that they are not resident is no proof, and a wrong answer would lose what the guest has written.
func (o *overlay) move(surface *unimem.Block, offset uint64) (moved int64, err error) {
	page := os.Getpagesize()
	zeros := make([]byte, page)
	to := surface.Bytes()
	from := o.guest.Bytes()[offset : offset+uint64(len(to))]
	for at := 0; at < len(to); at += page {
		end := min(at+page, len(to))
		if !bytes.Equal(from[at:end], zeros[:end-at]) {
			moved += int64(copy(to[at:end], from[at:end]))
		}
	}
	return moved, nil
}

// cover maps the surface's pages over those of the guest, whose own pages keep their memory.
func (o *overlay) cover(surface *unimem.Block, offset uint64) (err error) {
	if o.own == 0 {
		if o.own, err = libsystem.MapAgain(o.guest.Address(), o.guest.Size()); err != nil {
			o.own = 0
			return err
		}
	}
	return libsystem.Remap(o.guest.Address()+uintptr(offset), surface.Address(), surface.Size())
}

// uncover maps the guest's own pages again.
func (o *overlay) uncover(offset, length uint64) error {
	return libsystem.Remap(o.guest.Address()+uintptr(offset), o.own+uintptr(offset), int(length))
}

// close ends the second mapping, after the Block. Repeating it does nothing.
func (o *overlay) close() error {
	if o.own == 0 {
		return nil
	}
	err := libsystem.Deallocate(o.own, o.guest.Size())
	o.own = 0
	return err
}

func touched(*unimem.Block, uint64, uint64) ([]Extent, error) { return nil, errors.ErrUnsupported }
