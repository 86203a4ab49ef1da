//go:build darwin || linux

package kv

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// vectors is a file that a call of the system reads into several parts, and writes from them.
type vectors struct{ *os.File }

func (f vectors) writev(parts [][]byte) error {
	return f.move(parts, func(fd int, parts [][]byte) (int, error) { return unix.Writev(fd, parts) })
}

func (f vectors) readv(parts [][]byte, offset int64) error {
	return f.move(parts, func(fd int, parts [][]byte) (int, error) {
		n, err := unix.Preadv(fd, parts, offset)
		offset += int64(max(0, n))
		return n, err
	})
}

// move keeps the descriptor open meanwhile.
func (f vectors) move(parts [][]byte, call func(fd int, parts [][]byte) (int, error)) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	e := c.Control(func(fd uintptr) {
		err = whole(parts, func(parts [][]byte) (n int, err error) {
			for {
				n, err = call(int(fd), parts)
				if !errors.Is(err, unix.EINTR) {
					return n, err
				}
			}
		})
	})
	return errors.Join(e, err)
}
