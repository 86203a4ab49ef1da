//go:build darwin || macrules

package procmem

import (
	"math"
	"os"
	"slices"

	"github.com/anekit/anekit/internal/libsystem"
)

// Proportional returns the memory of this process in bytes, the footprint of macOS (libsystem.Footprint). Of other
// processes it is unknown.
func Proportional(pids ...int) (int64, error) {
	if len(pids) > 0 && !slices.Equal(pids, []int{os.Getpid()}) {
		return 0, ErrUnknown
	}
	return libsystem.Footprint()
}

// Available is the memory in bytes that this process can use without being killed.
func Available() uint64 {
	n, err := libsystem.AvailableMemory()
	if err != nil {
		return math.MaxUint64
	}
	return uint64(n)
}
