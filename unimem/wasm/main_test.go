package wasm_test

import (
	"testing"

	"github.com/anekit/anekit/internal/leaktest"
)

// A test run that leaks fails, even if its tests pass.
func TestMain(m *testing.M) { leaktest.Main(m) }
