//go:build darwin || macrules

package membench

import (
	"math"

	"github.com/anekit/anekit/internal/libsystem"
)

// Available is the memory in bytes that the process can use without being killed.
func Available() uint64 {
	n, err := libsystem.AvailableMemory()
	if err != nil {
		return math.MaxUint64
	}
	return uint64(n)
}
