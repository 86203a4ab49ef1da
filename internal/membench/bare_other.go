//go:build !linux

package membench

// bareKind says what the floors of this system are.
const bareKind = "a Go slice"

// bare is memory of the Go heap: this system's own calls are not measured.
type bare struct{ mem []byte }

func openBare(size int) (bare, error) { return bare{make([]byte, size)}, nil }

func (m bare) close() error { return nil }
