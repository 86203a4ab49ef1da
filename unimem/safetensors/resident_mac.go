//go:build darwin || macrules

package safetensors

import (
	"os"

	"github.com/anekit/anekit/internal/libsystem"
)

// residentBytes is unknown: mincore of macOS is reached by calls into libSystem alone, and x/sys has none.
func residentBytes(*os.File, int64) (int64, bool) { return 0, false }

// memory returns the bytes of memory that are available, -1 for unknown, and -1 for the pressure.
// kern.memorystatus_level is the part that is available, in percent.
func memory() (available int64, pressure float64) {
	all, err := libsystem.SysctlUint64("hw.memsize")
	if err != nil {
		return -1, -1
	}
	level, err := libsystem.SysctlUint64("kern.memorystatus_level")
	if err != nil {
		return -1, -1
	}
	return int64(all / 100 * min(level, 100)), -1
}
