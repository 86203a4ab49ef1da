package weightbench_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/weightbench"
)

func TestFiguresHaveNoExponents(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.0931: "0.0931", 0.00001234: "0.0000123", 4.056: "4.06",
		999.4: "999", 999.7: "1000", 1990.2: "1990", 54400: "54400", -1234.5: "-1234"} {
		require.Equal(t, want, weightbench.Figure(v))
	}
}

func TestSizesHaveRoom(t *testing.T) {
	require.Equal(t, []int64{64 << 20, 128 << 20}, weightbench.Sizes(t.TempDir(), 255<<20, 1<<40))
	require.Equal(t, []int64{64 << 20}, weightbench.Sizes(t.TempDir(), 255<<20, 255<<20))
	require.Empty(t, weightbench.Sizes(t.TempDir(), 255<<20, 1<<20))
}
