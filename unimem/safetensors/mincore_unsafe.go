//go:build linux || darwin

package safetensors

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mincoreBytes maps a file and asks which of its pages are in memory.
func mincoreBytes(f *os.File, size int64) (int64, bool) {
	if size <= 0 {
		return 0, false
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return 0, false
	}
	defer unix.Munmap(mem) //nolint:errcheck // the mapping is the function's own
	pages, err := mincore(uintptr(unsafe.Pointer(unsafe.SliceData(mem))), len(mem))
	if err != nil {
		return 0, false
	}
	n := int64(0)
	for _, p := range pages {
		n += int64(p&1) * int64(os.Getpagesize())
	}
	return min(n, size), true
}
