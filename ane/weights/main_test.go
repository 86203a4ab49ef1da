package weights_test

import (
	"testing"

	"github.com/anekit/anekit/ane/engine/broker"
	"github.com/anekit/anekit/internal/leaktest"
)

func TestMain(m *testing.M) {
	broker.ServeChild()
	leaktest.Main(m)
}
