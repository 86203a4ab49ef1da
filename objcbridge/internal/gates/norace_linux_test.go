//go:build !race && cgo && (amd64 || arm64)

package gates

import (
	"os"
	"testing"
)

// withoutRace returns this test binary.
func withoutRace(*testing.T) string { return os.Args[0] }
