//go:build linux

package kv

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// vectored is an open file with readv.
type vectored struct {
	*os.File
	raw   syscall.RawConn
	parts []unix.Iovec // reused by each call
}

func readable(f *os.File) file {
	raw, err := f.SyscallConn()
	if err != nil {
		return f
	}
	return &vectored{File: f, raw: raw}
}

// readVector fills parts with as few calls of readv as it takes. unix.Readv would make its list anew in each.
func (f *vectored) readVector(parts [][]byte) (n int, err error) {
	f.parts = f.parts[:0]
	for _, p := range parts {
		if len(p) > 0 {
			v := unix.Iovec{Base: &p[0]}
			v.SetLen(len(p))
			f.parts = append(f.parts, v)
		}
	}
	for rest := f.parts; len(rest) > 0; {
		var k uintptr
		var failed unix.Errno
		err := f.raw.Read(func(fd uintptr) bool {
			k, _, failed = unix.Syscall(unix.SYS_READV, fd, uintptr(unsafe.Pointer(&rest[0])), uintptr(len(rest)))
			return failed != unix.EAGAIN
		})
		switch {
		case err != nil:
			return n, err
		case failed == unix.EINTR:
			continue
		case failed != 0:
			return n, failed
		case k == 0:
			return n, nil
		}
		n += int(k)
		rest = behind(rest, int(k))
	}
	return n, nil
}

// behind is what is left of the parts when k bytes are filled.
func behind(rest []unix.Iovec, k int) []unix.Iovec {
	for k > 0 {
		m := min(k, int(rest[0].Len))
		k -= m
		if m == int(rest[0].Len) {
			rest = rest[1:]
			continue
		}
		rest[0].Base = (*byte)(unsafe.Add(unsafe.Pointer(rest[0].Base), m))
		rest[0].SetLen(int(rest[0].Len) - m)
	}
	return rest
}
