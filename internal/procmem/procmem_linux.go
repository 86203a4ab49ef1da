package procmem

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// Proportional returns the memory of processes in bytes, of this one when none is
// named, each page divided by the number of its mappings (Pss of
// proc_pid_smaps(5)): a page that they map twice counts once.
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
	for line := range strings.Lines(string(text)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "Pss: %d kB", &kib); n == 1 {
			return kib << 10, nil
		}
	}
	return 0, errors.New("smaps_rollup has no Pss")
}
