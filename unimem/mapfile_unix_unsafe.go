//go:build linux || darwin

package unimem

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapOver maps a file from offset on in the place of pages, for reading.
func mapOver(pages []byte, fd int, offset int64) error {
	_, err := unix.MmapPtr(fd, offset, unsafe.Pointer(unsafe.SliceData(pages)), uintptr(len(pages)), unix.PROT_READ,
		unix.MAP_SHARED|unix.MAP_FIXED)
	return err
}
