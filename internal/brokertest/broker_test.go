package brokertest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/engine/broker"
	"github.com/anekit/anekit/internal/brokertest"
	"github.com/anekit/anekit/internal/leaktest"
)

func TestMain(m *testing.M) {
	broker.ServeChild()
	leaktest.Main(m)
}

// A test runs exactly where a broker opens; elsewhere the error of Open has the reason of the skip.
func TestNeed(t *testing.T) {
	ran := false
	t.Run("in need", func(t *testing.T) {
		brokertest.Need(t)
		ran = true
	})
	require.Equal(t, brokertest.Here(), ran)
	if !leaktest.Emulated() {
		d, err := engine.Open(t.Context(), engine.Broker, engine.BrokerPath(""))
		require.Equal(t, ran, err == nil, "%v", err)
		if err == nil {
			require.NoError(t, d.Close())
		}
	}
}
