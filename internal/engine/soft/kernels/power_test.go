package kernels

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The NaN of a power has no sign on any processor.
func TestPowerOfNegatives(t *testing.T) {
	for _, y := range []float64{0.5, -0.5, 0.25, 1.5} {
		got := power(-4, y)
		require.True(t, math.IsNaN(got), y)
		require.False(t, math.Signbit(got), y)
	}
	require.Equal(t, 2.0, power(4, 0.5))
	require.Equal(t, 0.25, power(-2, -2))
}
