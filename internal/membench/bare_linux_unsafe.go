//go:build linux && !macrules

package membench

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Floors describes the floors of Blocks on this system.
const Floors = "a bare mapping made by the same system calls"

// mapping is the memory of a Block without its Go code: seven system calls.
func mapping(size int) (mem []byte, done func() error, err error) {
	fd, err := unix.MemfdCreate("membench", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			_ = unix.Close(fd) // the first failure is the one to report
		}
	}()
	if err := unix.Ftruncate(fd, int64(size)); err != nil {
		return nil, nil, err
	}
	const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		return nil, nil, err
	}
	p, err := unix.MmapPtr(fd, 0, nil, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	const onFault = 1 // MLOCK_ONFAULT; a call refused by the memlock limit takes time too
	_, _, _ = unix.Syscall(unix.SYS_MLOCK2, uintptr(p), uintptr(size), onFault)
	return unsafe.Slice((*byte)(p), size), func() error {
		return errors.Join(unix.MunmapPtr(p, uintptr(size)), unix.Close(fd))
	}, nil
}
