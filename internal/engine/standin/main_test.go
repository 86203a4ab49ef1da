package standin

import (
	"testing"

	"github.com/anekit/anekit/internal/leaktest"
)

// TestMain fails a run that leaves Blocks, mappings or goroutines behind, or
// anything in the framework if a test has started it.
func TestMain(m *testing.M) { leaktest.Main(m, leftovers) }
