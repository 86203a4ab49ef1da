//go:build !macrules

package procmem

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// Proportional returns the memory of processes in bytes, of this one if pids is empty. Each
// page is divided by the number of its mappings (Pss of proc_pid_smaps(5)): a page that they
// map twice counts once. Pages of files on disk, such as a program's code, do not count if the
// kernel reports them separately (Linux 5.3), because a process's share of them grows when
// another process of the same program ends.
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
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	sums := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, ":")
		var kib int64
		if n, _ := fmt.Sscanf(rest, "%d kB", &kib); n == 1 {
			sums[name] = kib << 10
		}
	}
	if all, ok := sums["Pss"]; ok {
		return all - sums["Pss_File"], nil
	}
	return 0, errors.New("smaps_rollup has no Pss")
}
