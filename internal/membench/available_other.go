//go:build !linux && !darwin

package membench

import "math"

// Available assumes no limit: on this system no container limits memory.
func Available() uint64 { return math.MaxUint64 }
