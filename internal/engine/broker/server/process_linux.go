package server

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
)

// thisProcess reads the limits of the system once, and leaves the reserves of limits.go.
var thisProcess = sync.OnceValue(func() allowance {
	files := min(resource(unix.RLIMIT_NOFILE), mostFiles)
	spent := spare(files, reservedFiles)
	return allowance{
		mappings: spare(readNumber("/proc/sys/vm/max_map_count", defaultMappings), reservedMappings),
		files:    spent,
		clients:  placesBeside(files - spent),
		memory:   memoryLimit("/proc/self/cgroup", "/sys/fs/cgroup") / memoryShare,
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

// readNumber reads the one number in a file, or returns what is to be assumed without it.
func readNumber(path string, without int64) int64 {
	b, err := os.ReadFile(path)
	if err != nil {
		return without
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil || n < 0 {
		return without // "max", or what is not known here
	}
	return n
}

// addresses is what the limit on the address space leaves beside what the process has of it and reservedAddresses,
// which is less than nothing where the limit is too low for a broker.
func addresses() int64 {
	limit := resource(unix.RLIMIT_AS)
	if limit == math.MaxInt64 {
		return limit
	}
	var pages int64
	if b, err := os.ReadFile("/proc/self/statm"); err == nil {
		size, _, _ := strings.Cut(string(b), " ")
		pages, _ = strconv.ParseInt(size, 10, 64) // the kernel's own
	}
	return limit - pages*int64(os.Getpagesize()) - reservedAddresses
}

// cramped refuses to serve where the broker would end, with all its clients, for want of a thread.
func cramped(left int64) error {
	if left > 0 {
		return nil
	}
	return &ane.Error{Op: "serve", Engine: Name, Err: ane.ErrExhausted,
		Detail: fmt.Sprintf("the limit on the address space leaves %d bytes, and threads may need %d",
			left+reservedAddresses, int64(reservedAddresses)),
		Hint: "raise it (ulimit -v, LimitAS=), or limit the memory by a cgroup (MemoryMax=)"}
}

// memoryLimit is the least of the machine's memory, the limits of the cgroups that the process is in, what is left of
// its address space, and GOMEMLIMIT.
func memoryLimit(list, root string) int64 {
	limit := min(max(addresses(), leastMemory), debug.SetMemoryLimit(-1))
	var s unix.Sysinfo_t
	if err := unix.Sysinfo(&s); err == nil {
		limit = min(limit, int64(uint64(s.Totalram)*uint64(s.Unit)))
	}
	f, err := os.Open(list)
	if err != nil {
		return limit
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// 0::/path for version 2, and n:controllers:/path for version 1
		part := strings.SplitN(lines.Text(), ":", 3)
		switch {
		case len(part) != 3:
		case part[1] == "":
			limit = min(limit, cgroupLimit(root, part[2], "memory.max"))
		case strings.Contains(","+part[1]+",", ",memory,"):
			limit = min(limit, cgroupLimit(filepath.Join(root, "memory"), part[2], "memory.limit_in_bytes"))
		}
	}
	return limit
}

// cgroupLimit is the least limit of a group and those that it is in.
func cgroupLimit(root, path, file string) int64 {
	limit := int64(math.MaxInt64)
	for path = filepath.Clean("/" + path); ; path = filepath.Dir(path) {
		limit = min(limit, readNumber(filepath.Join(root, path, file), math.MaxInt64))
		if path == "/" {
			return limit
		}
	}
}

// keepHeapWithin has the collector work harder before the heap and its garbage take what else the process needs: its
// limit is 5/8 of the memory. Clients have one half of that, for the heap and for other memory together, so at the
// worst 5/16 of heap in use, as much garbage, and 3/16 of other memory.
func keepHeapWithin() {
	limit := thisProcess().memory * memoryShare / 8 * 5
	if limit < debug.SetMemoryLimit(-1) {
		debug.SetMemoryLimit(limit)
	}
}
