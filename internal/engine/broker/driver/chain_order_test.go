package driver

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSetsKeepTheirOrder: sets that refused requests bring back, in whatever order, stand
// where they stood.
func TestSetsKeepTheirOrder(t *testing.T) {
	var ch chain
	for n := range uint64(5) {
		ch.put(outputSet{n, []uint32{uint32(n)}})
	}
	taken := []outputSet{ch.sets[0], ch.sets[1], ch.sets[2]}
	ch.sets = ch.sets[3:]
	for _, i := range []int{1, 2, 0} {
		ch.put(taken[i])
	}
	require.Len(t, ch.sets, 5)
	for n, s := range ch.sets {
		require.EqualValues(t, n, s.number)
		require.Equal(t, []uint32{uint32(n)}, s.surfaces)
	}
}
