//go:build !macrules

package generate

import (
	"fmt"
	"os"
	"strings"
)

// PeakMemory is the most memory of this process that was resident at once, in bytes; 0 if it is not known. It is not
// that of getrusage, which begins with the peak of the process that started this one.
func PeakMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "\nVmHWM:")
	var kilobytes int64
	if _, err := fmt.Sscan(after, &kilobytes); err != nil {
		return 0
	}
	return kilobytes << 10
}
