package interp_test

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/anekit/anekit/unimem"
)

// TestMain fails a run that leaves Blocks, mappings or goroutines behind.
func TestMain(m *testing.M) {
	before := runtime.NumGoroutine()
	code := m.Run()
	if s := unimem.Live(); s.Blocks != 0 || s.Mappings != 0 || s.Forgotten != 0 || s.Unbalanced != 0 {
		fmt.Fprintf(os.Stderr, "memory left behind: %+v\n", s)
		code = 1
	}
	for wait := 0; runtime.NumGoroutine() > before && wait < 200; wait++ {
		time.Sleep(10 * time.Millisecond) // goroutines that are about to end
	}
	if n := runtime.NumGoroutine(); n > before {
		stacks := make([]byte, 1<<16)
		fmt.Fprintf(os.Stderr, "%d goroutines left behind\n%s\n", n-before, stacks[:runtime.Stack(stacks, true)])
		code = 1
	}
	os.Exit(code)
}
