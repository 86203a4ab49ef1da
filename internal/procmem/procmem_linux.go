//go:build !macrules

package procmem

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

// Proportional returns the memory of processes in bytes, of this one if pids is empty. Each page is divided by the
// number of its mappings (Pss of proc_pid_smaps(5)): a page that they map twice counts once. Pages of files on disk,
// such as a program's code, do not count if the kernel reports them separately (Linux 5.3). A process's share of them
// would grow when another process of the same program ends.
func Proportional(pids ...int) (int64, error) {
	if len(pids) == 0 {
		pids = []int{os.Getpid()}
	}
	var sum int64
	for _, pid := range pids {
		n, err := proportional(pid)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

func proportional(pid int) (int64, error) {
	sums, err := sizes(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	if all, ok := sums["Pss"]; ok {
		return all - sums["Pss_File"], nil
	}
	return 0, errors.New("smaps_rollup has no Pss")
}

// sizes reads the lines NAME: N kB of a file.
func sizes(path string) (map[string]int64, error) {
	text, err := os.ReadFile(path)
	found := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, ":")
		var kib int64
		if n, _ := fmt.Sscanf(rest, "%d kB", &kib); n == 1 {
			found[name] = kib << 10
		}
	}
	return found, err
}

// Resident returns the memory of this process: its own pages, and those of mapped files; 0 where it is unknown.
func Resident() (own, files int64) {
	s, _ := sizes("/proc/self/status")
	return s["RssAnon"] + s["RssShmem"], s["RssFile"]
}

// Peak is the most memory of this process that was resident at once, in bytes; 0 if it is not known. It is not that of
// getrusage, which begins with the peak of the process that started this one.
func Peak() int64 {
	s, _ := sizes("/proc/self/status")
	return s["VmHWM"]
}

// Available is the memory in bytes that this process can use without being killed: the free memory of the machine,
// within the limit of the container.
func Available() uint64 {
	free := uint64(math.MaxUint64)
	if s, err := sizes("/proc/meminfo"); err == nil {
		free = uint64(s["MemAvailable"])
	}
	// Inside a container its control group is the root of the hierarchy, version 2 or 1.
	for _, group := range [][2]string{
		{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
		{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"},
	} {
		used, _ := number(group[1])
		if limit, limited := number(group[0]); limited {
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
