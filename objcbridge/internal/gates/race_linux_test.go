//go:build race && cgo && (amd64 || arm64)

package gates

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// withoutRace builds this package's test binary again without the race detector: AddressSanitizer and the
// race detector use the same addresses, so no process can have both.
func withoutRace(t *testing.T) string {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("this binary has the race detector, and there is no go command to build one without; run go test " +
			"without -race")
	}
	program := filepath.Join(t.TempDir(), "gates.test")
	output(t, "go", "test", "-c", "-o", program, ".")
	return program
}
