//go:build linux && !macrules

package safetensors

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mincore returns a byte for each page of a mapping; its lowest bit is set if the page is in memory.
func mincore(address uintptr, size int) ([]byte, error) {
	page := os.Getpagesize()
	pages := make([]byte, (size+page-1)/page)
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, address, uintptr(size),
		uintptr(unsafe.Pointer(unsafe.SliceData(pages))))
	if errno != 0 {
		return nil, errno
	}
	return pages, nil
}
