//go:build linux && !macrules

package unimem

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// tryMap maps and unmaps size bytes of private memory, as the Go runtime does for its heap.
func tryMap(size int) error {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	return unix.MunmapPtr(p, uintptr(size))
}

// mapNothing frees the pages and keeps the address range reserved without access.
func mapNothing(mem []byte) error {
	_, err := unix.MmapPtr(-1, 0, unsafe.Pointer(unsafe.SliceData(mem)), uintptr(len(mem)), unix.PROT_NONE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED|unix.MAP_NORESERVE)
	return err
}

// lockOnFault pins pages when they are allocated. The memlock limit may forbid it; old kernels
// and emulators do not support the call (ENOSYS).
func lockOnFault(mem []byte) error {
	const onFault = 1 // MLOCK_ONFAULT of linux/mman.h
	_, _, errno := unix.Syscall(unix.SYS_MLOCK2, address(mem), uintptr(len(mem)), onFault)
	if errno == 0 {
		return nil
	}
	return errno
}

func (m *memfd) twice() ([]byte, func() error, error) {
	return mapTwice(len(m.mem), func(at unsafe.Pointer) error {
		_, err := unix.MmapPtr(m.fd, 0, at, uintptr(len(m.mem)), unix.PROT_READ|unix.PROT_WRITE,
			unix.MAP_SHARED|unix.MAP_FIXED)
		return err
	})
}
