//go:build linux && !macrules

package membench

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Floors describes the floors of Blocks on this system.
const Floors = "a bare mapping made by the same system calls"

// bare is the memory of a Block without its Go code: seven system calls.
type bare struct {
	mem []byte
	fd  int
}

func openBare(size int) (bare, error) {
	fd, err := unix.MemfdCreate("membench", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return bare{}, err
	}
	m := bare{fd: fd}
	if err = unix.Ftruncate(fd, int64(size)); err != nil {
		return bare{}, m.fail(err)
	}
	const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	if _, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		return bare{}, m.fail(err)
	}
	p, err := unix.MmapPtr(fd, 0, nil, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return bare{}, m.fail(err)
	}
	const onFault = 1 // MLOCK_ONFAULT; a call refused by the memlock limit takes time too
	_, _, _ = unix.Syscall(unix.SYS_MLOCK2, uintptr(p), uintptr(size), onFault)
	m.mem = unsafe.Slice((*byte)(p), size)
	return m, nil
}

func (m bare) fail(err error) error {
	_ = unix.Close(m.fd) // the first failure is the one to report
	return err
}

func (m bare) close() error {
	err := unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(m.mem)), uintptr(len(m.mem)))
	if closing := unix.Close(m.fd); err == nil {
		err = closing
	}
	return err
}
