//go:build amd64 || arm64

package fp16

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The assembly reads and writes eight elements at least: shorter slices are for the Go
// code, longer ones for the assembly of the processor.
func TestAssemblyNeedsEightElements(t *testing.T) {
	for n, want := range map[int]bool{0: false, 1: false, 7: false, 8: true, 9: true, stretch: true} {
		require.Equal(t, want && Accelerated() != portable, vectors(n), n)
	}
}
