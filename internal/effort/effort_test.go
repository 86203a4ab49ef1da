package effort_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/effort"
)

func TestEffort(t *testing.T) {
	for _, asked := range []string{"", "1"} {
		t.Setenv(effort.Variable, asked)
		full := asked != "" && !testing.Short()
		require.Equal(t, full, effort.Full())
		rounds, cases := 8, 5
		if full {
			rounds, cases = 100, 100
		}
		require.Equal(t, rounds, effort.Rounds(100, 8))
		require.Equal(t, cases, effort.Cases(100))
		require.Equal(t, 2, effort.Cases(2))
		require.True(t, effort.Sample(12, 4))
		require.Equal(t, full, effort.Sample(3, 4))
		require.Equal(t, !full, skips(func(tb testing.TB) { effort.NeedsFull(tb, "a gigabyte") }))
		require.Equal(t, testing.Short(), skips(effort.SkipShort))
	}
}

// skips reports whether f skips its test.
func skips(f func(testing.TB)) bool {
	var r recorder
	f(&r)
	return r.skipped
}

// recorder is a test that f may skip.
type recorder struct {
	testing.TB
	skipped bool
}

func (r *recorder) Helper()     {}
func (r *recorder) Skip(...any) { r.skipped = true }
