//go:build !macrules

package server

import (
	"fmt"
	"math"
	"os"
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

// fits refuses to serve where the broker would end, with all its clients, for want of a thread.
func fits() error {
	left := addresses()
	if left > 0 {
		return nil
	}
	return &ane.Error{Op: "serve", Engine: Name, Err: ane.ErrExhausted,
		Detail: fmt.Sprintf("the limit on the address space leaves %d bytes, and threads may need %d",
			left+reservedAddresses, int64(reservedAddresses)),
		Hint: "raise it (ulimit -v, LimitAS=), or limit the memory instead (GOMEMLIMIT)"}
}

// memoryLimit is the least of the machine's memory, what is left of the process's address space, and GOMEMLIMIT.
func memoryLimit() int64 {
	return min(max(addresses(), leastMemory), debug.SetMemoryLimit(-1), machineMemory())
}

// machineMemory is the bytes of the machine's memory: the largest number if the system does not say.
func machineMemory() int64 {
	var s unix.Sysinfo_t
	if err := unix.Sysinfo(&s); err != nil {
		return math.MaxInt64
	}
	return int64(uint64(s.Totalram) * uint64(s.Unit))
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
