//go:build linux && !macrules

package huge

import (
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Skew is the number of bytes of mem before the first huge page, 0 on a system with another page.
func Skew(mem []byte) int {
	if os.Getpagesize() != small {
		return 0
	}
	return int(-uintptr(unsafe.Pointer(unsafe.SliceData(mem))) % Size)
}

// whole is the part of mem that has whole runs, empty on a system with another page.
func whole(mem []byte) []byte {
	if os.Getpagesize() != small || len(mem) < Size {
		return nil
	}
	skip := Skew(mem)
	if skip > len(mem) {
		return nil
	}
	n := (len(mem) - skip) / Size * Size
	return mem[skip : skip+n : skip+n]
}

// mincore tells for each page of mem whether it is present.
func mincore(mem, there []byte) error {
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(mem))), uintptr(len(mem)),
		uintptr(unsafe.Pointer(unsafe.SliceData(there))))
	if errno != 0 {
		return errno
	}
	return nil
}

// process is what Map knows of this process: an address at a multiple of Size where the next mapping probably fits. The
// last mapping was removed there, or made above it. It is 0 before the first.
var process struct{ hint atomic.Uintptr }

// Map maps size bytes of a file for reading and writing, shared, at a multiple of Size if size is at least Size and
// the address space permits it. Only there a file can have huge pages.
func Map(fd, size int) ([]byte, error) {
	hint := uintptr(0)
	if size >= Size {
		hint = process.hint.Load()
	}
	p, err := mapNear(hint, fd, size)
	if err != nil {
		return nil, err
	}
	if size >= Size && uintptr(p)%Size != 0 { // another mapping is where the hint was
		if q, err := mapAligned(fd, size); err == nil {
			_ = unix.MunmapPtr(p, uintptr(size)) // pages stay, the file has them
			p = q
		}
	}
	if size >= Size && uintptr(p)%Size == 0 {
		process.hint.Store(uintptr(p) - (uintptr(size)+Size-1)/Size*Size)
	}
	return unsafe.Slice((*byte)(p), size), nil
}

// mapNear maps a file at an address if that is free, and elsewhere if not.
func mapNear(hint uintptr, fd, size int) (unsafe.Pointer, error) {
	// The hint stays a number: no memory of Go is there.
	r, _, errno := unix.Syscall6(unix.SYS_MMAP, hint, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED,
		uintptr(fd), 0)
	if errno != 0 {
		return nil, errno
	}
	return *(*unsafe.Pointer)(unsafe.Pointer(&r)), nil
}

// Unmap removes what Map has mapped.
func Unmap(mem []byte) error {
	p := unsafe.Pointer(unsafe.SliceData(mem))
	err := unix.MunmapPtr(p, uintptr(len(mem)))
	if len(mem) >= Size && uintptr(p)%Size == 0 {
		process.hint.Store(uintptr(p))
	}
	return err
}

// mapAligned reserves addresses, maps the file in their middle, and frees the rest.
func mapAligned(fd, size int) (unsafe.Pointer, error) {
	page := os.Getpagesize()
	size = (size + page - 1) / page * page
	room, err := unix.MmapPtr(-1, 0, nil, uintptr(size+Size), unix.PROT_NONE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	skip := int(-uintptr(room) % Size)
	p, err := unix.MmapPtr(fd, 0, unsafe.Add(room, skip), uintptr(size), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED|unix.MAP_FIXED)
	if err != nil {
		_ = unix.MunmapPtr(room, uintptr(size+Size)) // the first failure is the one to report
		return nil, err
	}
	if skip > 0 {
		_ = unix.MunmapPtr(room, uintptr(skip)) // addresses without memory
	}
	if rest := Size - skip; rest > 0 {
		_ = unix.MunmapPtr(unsafe.Add(p, size), uintptr(rest)) // as above
	}
	return p, nil
}
