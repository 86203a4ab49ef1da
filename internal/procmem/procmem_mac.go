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

// MemoryPressure returns the level that macOS states for the machine.
func MemoryPressure() Pressure {
	level, err := libsystem.SysctlUint64("kern.memorystatus_vm_pressure_level")
	if err != nil {
		level = 0
	}
	return Pressure{Stalled: -1, Level: int(level)}
}
