//go:build linux && !macrules

package wasm

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/unimem"
)

// errNoDescriptor: memory that has no file to map again.
var errNoDescriptor = errors.New("the memory has no descriptor")

// overlay maps surfaces over the memory of a guest.
type overlay struct{ guest *unimem.Block }

// move copies the pages that exist of the guest's range to the surface.
func (o *overlay) move(surface *unimem.Block, offset uint64) (moved int64, err error) {
	if surface.Handle() == 0 {
		return 0, errNoDescriptor
	}
	ranges, err := touched(o.guest, offset, offset+uint64(surface.Size()))
	for _, r := range ranges {
		moved += int64(copy(surface.Bytes()[r.From-offset:], o.guest.Bytes()[r.From:r.To]))
	}
	return moved, err
}

// touched lists the ranges between two offsets of a Block where pages exist: its file has holes where nothing was
// written.
func touched(b *unimem.Block, from, end uint64) (ranges []Extent, err error) {
	if b.Handle() == 0 || b.Backing() == "heap" {
		return nil, errNoDescriptor
	}
	for from < end {
		data, err := unix.Seek(int(b.Handle()), int64(from), unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) || err == nil && uint64(data) >= end { // a hole to the end
			break
		}
		if err != nil {
			return nil, fmt.Errorf("lseek(SEEK_DATA): %w", err)
		}
		hole, err := unix.Seek(int(b.Handle()), data, unix.SEEK_HOLE)
		if err != nil {
			return nil, fmt.Errorf("lseek(SEEK_HOLE): %w", err)
		}
		from = min(uint64(hole), end)
		ranges = append(ranges, Extent{uint64(data), from})
	}
	return ranges, nil
}

// cover maps all pages of a surface over those of the guest, and gives the guest's own ones back.
func (o *overlay) cover(surface *unimem.Block, offset uint64) error {
	if err := mapFixed(o.guest, offset, surface.Handle(), 0, uint64(surface.Size())); err != nil {
		return err
	}
	// Without it the memory is there twice. A file system that has no holes keeps the pages.
	_ = unix.Fallocate(int(o.guest.Handle()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, int64(offset),
		int64(surface.Size()))
	return nil
}

// uncover maps the guest's own pages again.
func (o *overlay) uncover(offset, length uint64) error {
	return mapFixed(o.guest, offset, o.guest.Handle(), offset, length)
}

// close has nothing to free.
func (o *overlay) close() error { return nil }

// mapFixed maps a file at an offset of the guest's memory, over what is mapped there.
func mapFixed(guest *unimem.Block, offset uint64, fd uintptr, at, length uint64) error {
	place := unsafe.Pointer(unsafe.SliceData(guest.Bytes()[offset : offset+length]))
	_, err := unix.MmapPtr(int(fd), int64(at), place, uintptr(length), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED|unix.MAP_FIXED)
	if err != nil {
		return fmt.Errorf("mmap(MAP_FIXED): %w", err)
	}
	return nil
}
