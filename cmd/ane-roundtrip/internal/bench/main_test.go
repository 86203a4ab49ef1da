package bench

import (
	"testing"

	"github.com/anekit/anekit/ane/engine/broker"
	"github.com/anekit/anekit/internal/growthbench"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/tripbench"
)

func TestMain(m *testing.M) {
	broker.ServeChild()
	tripbench.ServeSignals()
	growthbench.ServeClient()
	leaktest.Main(m)
}
