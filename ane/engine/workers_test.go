package engine_test

import (
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/brokertest"
)

const large = `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 1, 192, 192]> x) {
        tensor<fp16, [1, 1, 192, 192]> y = matmul(
            transpose_x = bool(false), transpose_y = bool(false), x = x, y = x)[name = string("y")];
    } -> (y);
}`

// started counts the goroutines that evaluations of a large product start.
func started(t *testing.T, evaluations int, opts ...engine.Option) int {
	t.Helper()
	d, err := engine.Open(t.Context(), engine.Soft, opts...)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	m, err := d.Compile(t.Context(), ane.Source{Text: []byte(large)})
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close(t.Context())) }()
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	count := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(count)
	if count[0].Value.Kind() != metrics.KindUint64 {
		t.Skip("this version of Go does not count goroutines")
	}
	before, running := count[0].Value.Uint64(), runtime.NumGoroutine()
	for range evaluations {
		_, err = r.Evaluate(t.Context())
		require.NoError(t, err)
		// Those that look for another operation would compute the next one.
		require.True(t, await.Poll(func() bool { return runtime.NumGoroutine() <= running }), "they end")
	}
	metrics.Read(count)
	return int(count[0].Value.Uint64() - before)
}

func TestWorkersBoundsTheGoroutinesOfAnOperation(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const n = 100 // the runtime starts a few of its own
	require.GreaterOrEqual(t, started(t, n), n)
	require.GreaterOrEqual(t, started(t, n, engine.Workers(0)), n, "as without it")
	require.Less(t, started(t, n, engine.Workers(1)), n/2)
	two := started(t, n, engine.Workers(2))
	require.GreaterOrEqual(t, two, n)
	require.Less(t, two, n+n/2)
}

func TestWorkersIsRefusedWhereNothingBoundsThem(t *testing.T) {
	for _, name := range []string{engine.Apple, engine.StandIn} {
		_, err := engine.Open(t.Context(), name, engine.Workers(1))
		require.ErrorIs(t, err, ane.ErrUnavailable, name)
		require.ErrorContains(t, err, "remove Workers", name)
	}
	_, err := engine.Open(t.Context(), engine.Broker, engine.BrokerPath("shared.sock"), engine.Workers(1))
	require.ErrorContains(t, err, "private")
	d, err := engine.Open(t.Context(), engine.Auto, engine.Workers(1))
	require.NoError(t, err)
	require.Equal(t, engine.Soft, d.Info().Name)
	require.NoError(t, d.Close())
	brokertest.Need(t)
	d, err = engine.Open(t.Context(), engine.Broker, engine.BrokerPath(""), engine.Workers(1))
	require.NoError(t, err)
	require.NoError(t, d.Close())
}
