//go:build !linux && !darwin && !macrules

package procmem

import "math"

// Proportional returns ErrUnknown: this system counts a page twice that is mapped twice.
func Proportional(...int) (int64, error) { return 0, ErrUnknown }

// Available assumes no limit: on this system no container limits memory.
func Available() uint64 { return math.MaxUint64 }

// MemoryPressure is unknown.
func MemoryPressure() Pressure { return Pressure{Stalled: -1} }
