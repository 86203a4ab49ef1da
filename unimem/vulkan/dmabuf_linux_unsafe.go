//go:build linux && !macrules

package vulkan

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// create is struct udmabuf_create of linux/udmabuf.h.
type create struct {
	memfd, flags uint32
	offset, size uint64
}

// dmabuf makes a dma-buf of the first size bytes of a memfd that is sealed against shrinking.
func dmabuf(memfd uintptr, size int) (fd int, err error) {
	const udmabufCreate, closeOnExec = 0x40187542, 1 // _IOW('u', 0x42, struct udmabuf_create), UDMABUF_FLAGS_CLOEXEC
	device, err := os.OpenFile("/dev/udmabuf", os.O_RDWR, 0)
	if err != nil {
		return -1, err
	}
	defer device.Close()
	args := create{memfd: uint32(memfd), flags: closeOnExec, size: uint64(size)}
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, device.Fd(), udmabufCreate, uintptr(unsafe.Pointer(&args)))
	if errno != 0 {
		return -1, fmt.Errorf("/dev/udmabuf makes no dma-buf: %w", errno)
	}
	return int(n), nil
}

func closeFile(fd int) { _ = unix.Close(fd) }
