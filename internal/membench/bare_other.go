//go:build !linux || macrules

package membench

// Floors describes the floors of Blocks on this system.
const Floors = "a Go slice"

// bare is memory of the Go heap: the system calls are not measured.
type bare struct{ mem []byte }

func openBare(size int) (bare, error) { return bare{make([]byte, size)}, nil }

func (m bare) close() error { return nil }
