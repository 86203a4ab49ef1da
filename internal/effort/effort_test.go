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
		require.Equal(t, !full, skips(t, func(t *testing.T) { effort.NeedsFull(t, "a gigabyte") }))
		require.Equal(t, testing.Short(), skips(t, func(t *testing.T) { effort.SkipShort(t) }))
	}
}

// skips reports whether f skips its test.
func skips(t *testing.T, f func(*testing.T)) (skipped bool) {
	t.Run("", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		f(t)
	})
	return skipped
}
