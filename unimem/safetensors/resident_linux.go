//go:build !macrules

package safetensors

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// residentBytes returns how much of a file is in the page cache: by cachestat, since Linux 6.5,
// otherwise by mincore of a map.
func residentBytes(f *os.File, size int64) (int64, bool) {
	var stat unix.Cachestat_t
	if err := unix.Cachestat(uint(f.Fd()), &unix.CachestatRange{Len: uint64(size)}, &stat, 0); err == nil {
		return min(int64(stat.Cache)*int64(os.Getpagesize()), size), true
	}
	return mincoreBytes(f, size)
}

// memory returns the bytes that are available without swapping, -1 for unknown. pressure is the part of the last ten
// seconds in which some task waited for memory, in percent.
func memory() (available int64, pressure float64) {
	available, pressure = -1, -1
	if b, err := os.ReadFile("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "MemAvailable:" {
				if n, err := strconv.ParseInt(f[1], 10, 64); err == nil {
					available = n << 10
				}
			}
		}
	}
	if b, err := os.ReadFile("/proc/pressure/memory"); err == nil {
		_, rest, _ := strings.Cut(string(b), "some avg10=")
		number, _, _ := strings.Cut(rest, " ")
		if p, err := strconv.ParseFloat(number, 64); err == nil {
			pressure = p
		}
	}
	return available, pressure
}
