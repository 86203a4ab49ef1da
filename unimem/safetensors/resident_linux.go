//go:build !macrules

package safetensors

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// residentBytes returns how much of a file is in the page cache: by cachestat, since Linux 6.5, otherwise by mincore of
// a map. Of a file that the process neither owns nor may write to, the first refuses to tell, and the second says that
// all pages are there.
func residentBytes(f *os.File, size int64) (int64, bool) {
	var stat unix.Cachestat_t
	err := unix.Cachestat(uint(f.Fd()), &unix.CachestatRange{Len: uint64(size)}, &stat, 0)
	if err == nil {
		return min(int64(stat.Cache)*int64(os.Getpagesize()), size), true
	}
	if errors.Is(err, unix.EPERM) || !tells(f) {
		return 0, false
	}
	return mincoreBytes(f, size)
}

// tells reports whether mincore tells the truth of a file.
func tells(f *os.File) bool {
	var stat unix.Stat_t
	if unix.Fstat(int(f.Fd()), &stat) == nil && int(stat.Uid) == os.Geteuid() {
		return true
	}
	return unix.Faccessat(unix.AT_FDCWD, f.Name(), unix.W_OK, unix.AT_EACCESS) == nil
}
