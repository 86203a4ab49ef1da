//go:build cgo && (amd64 || arm64)

package gates

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// noLeaks limits AddressSanitizer to misuse of memory: it would also report memory that the Objective-C
// runtime never frees. The other gates find leaks.
const noLeaks = "ASAN_OPTIONS=detect_leaks=0"

// exact disables glibc's per-thread caches, so that bytes in use are those of the program.
const exact = "GLIBC_TUNABLES=glibc.malloc.tcache_count=0"

// TestDrivers runs the stand-in's own programs, which call it without the bridge.
func TestDrivers(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob(filepath.Join(drivers, "driver_*.[mc]"))
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	for _, source := range sources {
		name := strings.TrimSuffix(filepath.Base(source), filepath.Ext(source))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, []string{exact}, plain.compile(t, source)).passes(t)
		})
		t.Run(name+" with AddressSanitizer", func(t *testing.T) {
			t.Parallel()
			program := address.compile(t, source)
			if strings.HasSuffix(name, "_soak") { // its many rounds are for counting bytes
				run(t, []string{noLeaks}, program, "10000").passes(t)
				return
			}
			run(t, []string{noLeaks}, program).passes(t)
		})
	}
}
