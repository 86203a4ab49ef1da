//go:build !macrules

package unimem

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// checkMapFile refuses a range that ends within a huge page: the system maps all of the page, and refuses to unmap a
// part.
func checkMapFile(fd, size int) error {
	huge, err := hugePage(fd)
	if err != nil || huge == 0 || int64(size)%huge == 0 {
		return err
	}
	return &Error{Op: opMapFile, Size: size, Err: ErrShare,
		Cause: fmt.Errorf("the file has huge pages of %d bytes", huge),
		Hint:  "map whole huge pages, or read the file into a Tape"}
}

// hugePage returns the size of the huge pages that a file consists of, 0 for other files.
func hugePage(fd int) (int64, error) {
	var system unix.Statfs_t
	err := retry(func() error { return unix.Fstatfs(fd, &system) })
	if err != nil || uint32(system.Type) != unix.HUGETLBFS_MAGIC {
		return 0, err
	}
	return system.Bsize, nil
}
