//go:build linux

package kv

import (
	"io"
	"math/bits"
	"os"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// vectored is an open file with preadv.
type vectored struct {
	*os.File
	raw syscall.RawConn
}

func readable(f *os.File) file {
	raw, err := f.SyscallConn()
	if err != nil {
		return f
	}
	return vectored{f, raw}
}

func (f vectored) section(at int64) io.Reader { return &section{file: f, at: at} }

// section reads a file from a place on.
type section struct {
	file  vectored
	at    int64
	parts []unix.Iovec // reused by each call
}

func (s *section) Read(b []byte) (int, error) {
	n, err := s.file.ReadAt(b, s.at)
	s.at += int64(n)
	return n, err
}

// readVector fills parts with as few calls of preadv as it takes. unix.Preadv would allocate its list in each call.
func (s *section) readVector(parts []piece) (n int, err error) {
	s.parts = slices.Grow(s.parts[:0], len(parts))
	for _, p := range parts {
		v := unix.Iovec{Base: unsafe.SliceData(p.b)}
		v.SetLen(len(p.b))
		s.parts = append(s.parts, v)
	}
	for rest := s.parts; len(rest) > 0; {
		var k uintptr
		var failed unix.Errno
		err := s.file.raw.Read(func(fd uintptr) bool {
			k, _, failed = unix.Syscall6(unix.SYS_PREADV, fd, uintptr(unsafe.Pointer(&rest[0])), uintptr(len(rest)),
				uintptr(s.at), uintptr(uint64(s.at)>>32>>(bits.UintSize-32)), 0)
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
		s.at += int64(k)
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
