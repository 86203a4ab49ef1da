package wasm_test

import (
	"testing"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/leaktest"
)

// A test run that leaks fails, even if its tests pass.
func TestMain(m *testing.M) {
	engine.ServeChild()
	leaktest.Main(m)
}
