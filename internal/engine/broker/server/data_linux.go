//go:build !macrules

package server

import (
	"errors"

	"golang.org/x/sys/unix"
)

// data calls each for the parts of a range of a file that are no holes: offsets from and to.
func data(fd uintptr, at, size int, each func(from, to int)) error {
	for end := at + size; at < end; {
		from, err := unix.Seek(int(fd), int64(at), unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) { // a hole up to the end
			return nil
		}
		if err != nil {
			return err
		}
		to, err := unix.Seek(int(fd), from, unix.SEEK_HOLE)
		if err != nil {
			return err
		}
		if at = min(int(to), end); int(from) < at {
			each(int(from), at)
		}
	}
	return nil
}
