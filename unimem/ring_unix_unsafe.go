//go:build linux || darwin

package unimem

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/libsystem"
)

// mapTwice reserves addresses for size bytes twice and has place map them at the beginning and in the middle.
func mapTwice(size int, place func(at unsafe.Pointer) error) ([]byte, func() error, error) {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(2*size), unix.PROT_NONE,
		unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, nil, createError(opRing, "mmap", size, err)
	}
	unmap := func() error { return unix.MunmapPtr(p, uintptr(2*size)) }
	for _, at := range []unsafe.Pointer{p, unsafe.Add(p, size)} {
		if err := place(at); err != nil {
			_ = unmap() // the first failure is the one to report
			return nil, nil, createError(opRing, "map twice", size, err)
		}
	}
	return unsafe.Slice((*byte)(p), 2*size), unmap, nil
}

// twice maps the surface's pages by mach_vm_remap: each is present at once, and a write at one address shows at the
// other.
func (s *surface) twice() ([]byte, func() error, error) {
	return mapTwice(s.Size, func(at unsafe.Pointer) error {
		return libsystem.Remap(uintptr(at), address(s.mem), s.Size)
	})
}
