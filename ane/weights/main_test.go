package weights_test

import (
	"testing"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/leaktest"
)

func TestMain(m *testing.M) {
	engine.ServeChild()
	leaktest.Main(m)
}
