package safetensors

import (
	"testing"

	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/ringtest"
)

// A test run that leaks fails, even if its tests pass.
func TestMain(m *testing.M) {
	ringtest.Main()
	leaktest.Main(m)
}
