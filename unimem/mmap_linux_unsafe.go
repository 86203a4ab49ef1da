//go:build linux

package unimem

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapShared maps size bytes of a file at an address that the kernel chooses.
func mapShared(fd, size int) ([]byte, error) {
	p, err := unix.MmapPtr(fd, 0, nil, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(p), size), nil
}

func unmap(mem []byte) error {
	return unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(mem)), uintptr(len(mem)))
}

// mapNothing frees the pages and keeps the address range reserved without access.
func mapNothing(mem []byte) error {
	_, err := unix.MmapPtr(-1, 0, unsafe.Pointer(unsafe.SliceData(mem)), uintptr(len(mem)), unix.PROT_NONE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED|unix.MAP_NORESERVE)
	return err
}

// lockOnFault pins pages when they are allocated and reports whether the kernel accepted
// that: the memlock limit may forbid it, old kernels and emulators do not support the call.
func lockOnFault(mem []byte) bool {
	const onFault = 1 // MLOCK_ONFAULT of linux/mman.h
	_, _, errno := unix.Syscall(unix.SYS_MLOCK2, address(mem), uintptr(len(mem)), onFault)
	return errno == 0
}
