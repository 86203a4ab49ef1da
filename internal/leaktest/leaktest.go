// Package leaktest fails a run of tests that leaves shared memory or goroutines
// behind.
package leaktest

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/anekit/anekit/unimem"
)

// Main runs the tests of a package, for its TestMain, and ends the process. A
// run that leaves anything open fails, whatever its tests said. Each of more names
// what else is left.
func Main(m *testing.M, more ...func() []string) {
	code := m.Run()
	for _, left := range more {
		for _, what := range left() {
			fmt.Fprintln(os.Stderr, "tests left behind:", what)
			code = 1
		}
	}
	if s := unimem.Live(); s.Blocks != 0 || s.Mappings != 0 || s.Forgotten != 0 || s.Unbalanced != 0 {
		fmt.Fprintf(os.Stderr, "tests left memory open: %+v\n", s)
		code = 1
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, "tests left goroutines behind:", err)
		code = 1
	}
	os.Exit(code)
}
