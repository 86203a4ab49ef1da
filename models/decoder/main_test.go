package decoder

import (
	"testing"

	"github.com/anekit/anekit/ane/engine/broker"
	"github.com/anekit/anekit/internal/leaktest"
)

// A test run that leaks fails, even if its tests pass.
func TestMain(m *testing.M) {
	broker.ServeChild()
	leaktest.Main(m)
}
