//go:build !macrules

package server

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// thisProcess reads the limits of the system once, and leaves the reserves.
var thisProcess = sync.OnceValue(func() allowance {
	files := min(resource(unix.RLIMIT_NOFILE), mostFiles)
	spent := spare(files, reservedFiles)
	return allowance{
		mappings: spare(maxMapCount(), reservedMappings),
		files:    spent,
		clients:  placesBeside(files - spent),
		memory:   memoryLimit() / memoryShare,
	}
})

// resource is the soft limit of this process. The runtime raises that of files to the hard one.
func resource(which int) int64 {
	var r unix.Rlimit
	if err := unix.Getrlimit(which, &r); err != nil || r.Cur > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(r.Cur)
}

// maxMapCount is vm.max_map_count.
func maxMapCount() int64 {
	b, _ := os.ReadFile("/proc/sys/vm/max_map_count") // or it is assumed
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return defaultMappings
	}
	return n
}

// memoryLimit is the least of the machine's memory, the process's address space, and GOMEMLIMIT.
func memoryLimit() int64 {
	limit := min(resource(unix.RLIMIT_AS), debug.SetMemoryLimit(-1))
	var s unix.Sysinfo_t
	if unix.Sysinfo(&s) == nil {
		limit = min(limit, int64(uint64(s.Totalram)*uint64(s.Unit)))
	}
	return limit
}
