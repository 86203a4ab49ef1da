package apple_test

import (
	"os"
	"testing"

	"github.com/anekit/anekit/internal/leaktest"
)

// TestMain fails a run that leaves anything behind; see leftovers.
func TestMain(m *testing.M) {
	if run := os.Getenv(childRun); run != "" {
		os.Exit(child(run))
	}
	leaktest.Main(m, leftovers)
}
