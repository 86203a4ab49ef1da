package device_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/anekit/anekit/internal/leaktest"
)

// TestMain gives the frameworks a folder for temporary files of their own, which
// has to be empty in the end. See leaks for what else has to be.
func TestMain(m *testing.M) {
	if run := os.Getenv(childRun); run != "" {
		os.Exit(child(run))
	}
	dir, err := os.MkdirTemp("", "device-test")
	if err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	leaktest.Main(m, leftovers, func() []string { return files(dir) })
}

// files lists what is left in dir, and removes it.
func files(dir string) []string {
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	os.RemoveAll(dir)
	return left
}
