//go:build cgo && (amd64 || arm64)

package gates

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/anekit/anekit/internal/leaktest"
)

// process is the state shared by all tests of a run.
var process = struct {
	sync.Mutex                   // guards dir and programs
	dir        string            // folder of the compiled programs
	programs   map[string]string // by variant and source: the compiled file
	busy       chan struct{}     // its capacity bounds the compilers and programs running at a time
}{programs: map[string]string{}, busy: make(chan struct{}, 2)}

// TestMain fails a run that leaves files, Blocks or goroutines behind.
func TestMain(m *testing.M) {
	leaktest.Main(m, func() []string {
		if err := os.RemoveAll(process.dir); err != nil {
			return []string{fmt.Sprint(err)}
		}
		return nil
	})
}
