//go:build linux

package sysfilter

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Deny makes system calls of this process fail, on all its threads, until it ends.
func Deny(deny map[uint32]unix.Errno) error {
	const load, equal, reply = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K,
		unix.BPF_RET | unix.BPF_K
	program := []unix.SockFilter{{Code: load}} // the number of the call is at offset 0
	for call, errno := range deny {
		program = append(program, unix.SockFilter{Code: equal, K: call, Jf: 1},
			unix.SockFilter{Code: reply, K: unix.SECCOMP_RET_ERRNO | uint32(errno)})
	}
	program = append(program, unix.SockFilter{Code: reply, K: unix.SECCOMP_RET_ALLOW})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&filter)))
	if errno != 0 {
		return errno
	}
	return nil
}
