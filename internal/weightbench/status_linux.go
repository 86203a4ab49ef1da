//go:build !macrules

package weightbench

import (
	"os"
	"strconv"
	"strings"
)

// status is a size in /proc/self/status, 0 for unknown.
func status(field string) int64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == field {
			n, _ := strconv.ParseInt(f[1], 10, 64) // 0 for what is no number
			return n << 10
		}
	}
	return 0
}
