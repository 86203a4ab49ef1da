//go:build linux

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

// moveTouched copies the pages that exist of the guest's range to the surface: the file of a Block has holes where
// nothing was written.
func moveTouched(surface, guest *unimem.Block, offset uint64) (moved int64, err error) {
	if guest.Handle() == 0 || surface.Handle() == 0 || guest.Backing() == "heap" {
		return 0, errNoDescriptor
	}
	from, end := int64(offset), int64(offset)+int64(surface.Size())
	to, source := surface.Bytes(), guest.Bytes()
	for from < end {
		data, err := unix.Seek(int(guest.Handle()), from, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) || err == nil && data >= end { // a hole to the end
			return moved, nil
		}
		if err != nil {
			return moved, fmt.Errorf("lseek(SEEK_DATA): %w", err)
		}
		hole, err := unix.Seek(int(guest.Handle()), data, unix.SEEK_HOLE)
		if err != nil {
			return moved, fmt.Errorf("lseek(SEEK_HOLE): %w", err)
		}
		hole = min(hole, end)
		moved += int64(copy(to[data-int64(offset):], source[data:hole]))
		from = hole
	}
	return moved, nil
}

// mapSurface maps all pages of a surface over those of the guest, and gives the guest's own ones back.
func mapSurface(guest *unimem.Block, offset uint64, surface *unimem.Block) error {
	if err := mapFixed(guest, offset, surface.Handle(), 0, uint64(surface.Size())); err != nil {
		return err
	}
	// Without it the memory is there twice. A file system that has no holes keeps the pages.
	_ = unix.Fallocate(int(guest.Handle()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, int64(offset),
		int64(surface.Size()))
	return nil
}

// unmapSurface maps the guest's own pages again.
func unmapSurface(guest *unimem.Block, offset, length uint64) error {
	return mapFixed(guest, offset, guest.Handle(), offset, length)
}

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
