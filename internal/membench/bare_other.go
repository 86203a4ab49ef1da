//go:build !linux || macrules

package membench

// Floors describes the floors of Blocks on this system.
const Floors = "a Go slice"

// mapping is memory of the Go heap: the system calls are not measured.
func mapping(size int) ([]byte, func() error, error) { return heap(size) }
