//go:build darwin || macrules

package safetensors

import (
	"os"

	"github.com/anekit/anekit/internal/libsystem"
)

// residentBytes is unknown: what mincore says of a mapped file on macOS was never seen.
func residentBytes(*os.File, int64) (int64, bool) { return 0, false }

// memory returns the bytes of memory that are available, -1 for unknown, and -1 for the pressure.
func memory() (available int64, pressure float64) {
	n, err := libsystem.AvailableMemory()
	if err != nil {
		return -1, -1
	}
	return n, -1
}
