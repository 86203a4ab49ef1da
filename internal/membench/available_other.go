//go:build !linux

package membench

import "math"

// available assumes no limit: on this system no container limits memory.
func available() uint64 { return math.MaxUint64 }
