//go:build !macrules

package weightbench

import (
	"os"

	"golang.org/x/sys/unix"
)

// drop tells the page cache that a file is needed no more. Dirty pages would stay: Make has synced them.
func drop(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // nothing was written
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// free is a folder's free space.
func free(dir string) int64 {
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) != nil {
		return guess
	}
	return int64(fs.Bavail) * fs.Bsize
}
