// Package leaktest fails a run of tests that leaves shared memory, goroutines or
// files behind.
package leaktest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/anekit/anekit/unimem"
)

// Main runs the tests of a package, for its TestMain, and ends the process. A
// run that leaves anything open fails, whatever its tests said. Temporary files go
// to a folder of this process, which has to be empty in the end. Each of more names
// what else is left.
func Main(m *testing.M, more ...func() []string) {
	dir, err := private()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	for _, left := range append(more, func() []string { return files(dir) }) {
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

// private makes the folder and has everybody use it: Go and macOS follow TMPDIR,
// GNUstep follows TEMP.
func private() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "leaktest"); err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	if err == nil {
		err = os.Setenv("TEMP", dir)
	}
	return dir, err
}

// files lists what is left in dir, and removes it.
func files(dir string) []string {
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err == nil {
		err = os.RemoveAll(dir)
	}
	if err != nil {
		left = append(left, err.Error())
	}
	return left
}
