package wrap_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/engine/wrap"
)

// keeper is an engine in another process.
type keeper struct{ ane.Engine }

func (keeper) Traffic() (sent, received int64, ok bool) { return 3, 5, true }

func (keeper) Purge(context.Context) (int, int64, error) { return 2, 700, nil }

func (keeper) Counters(context.Context) (map[string]uint64, error) {
	return map[string]uint64{"clients": 1}, nil
}

func TestEngineForwards(t *testing.T) {
	e := wrap.Engine{Engine: keeper{soft.New()}}
	sent, received, ok := e.Traffic()
	require.Equal(t, []any{int64(3), int64(5), true}, []any{sent, received, ok})
	programs, bytes, err := e.Purge(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, programs)
	require.EqualValues(t, 700, bytes)
	counters, err := e.Counters(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]uint64{"clients": 1}, counters)
	require.NoError(t, e.Close())
}

// An engine in this process has neither, and the errors name it and the fix.
func TestEngineInThisProcess(t *testing.T) {
	e := wrap.Engine{Engine: soft.New()}
	_, _, ok := e.Traffic()
	require.False(t, ok)
	_, _, err := e.Purge(t.Context())
	_, other := e.Counters(t.Context())
	for op, err := range map[string]error{"purge": err, "counters": other} {
		require.ErrorIs(t, err, errors.ErrUnsupported)
		require.ErrorContains(t, err, op)
		require.ErrorContains(t, err, "soft")
		require.ErrorContains(t, err, "open the broker")
	}
	require.NoError(t, e.Close())
}
