//go:build !macrules

package membench

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

// Available is the memory in bytes that the process can use without being killed: the free
// memory of the machine, within the limit of the container.
func Available() uint64 {
	free := uint64(math.MaxUint64)
	if f, err := os.Open("/proc/meminfo"); err == nil {
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			var kib uint64
			if n, _ := fmt.Sscanf(s.Text(), "MemAvailable: %d kB", &kib); n == 1 {
				free = kib << 10
			}
		}
	}
	// Inside a container its control group is the root of the hierarchy, version 2 or 1.
	for _, group := range [][2]string{
		{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
		{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"},
	} {
		limit, limited := number(group[0])
		used, _ := number(group[1])
		if limited {
			free = min(free, limit-min(used, limit))
		}
	}
	return free
}

// number reads a file with one number; "max" is not a number.
func number(path string) (uint64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
