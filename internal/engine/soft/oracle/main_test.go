package oracle_test

import (
	"testing"

	"github.com/anekit/anekit/internal/leaktest"
)

// TestMain fails a run that leaves Blocks, mappings or goroutines behind.
func TestMain(m *testing.M) { leaktest.Main(m) }
