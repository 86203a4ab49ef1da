package procmem

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// Proportional returns the memory of this process in bytes, each page divided
// by the number of its mappings (Pss of proc_pid_smaps(5)): a page that the
// process maps twice counts once.
func Proportional() (int64, error) {
	text, err := os.ReadFile("/proc/self/smaps_rollup")
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
