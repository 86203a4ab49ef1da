package hal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The search for cycles does not look at waiters below the values of a chain that is submitted in its order.
func TestAwaitingOfAHigherValueLooksAtNoWaiter(t *testing.T) {
	s := NewSemaphore(0)
	decided, err := s.add(&waiter{value: 3, to: &submission{}, at: -1})
	require.False(t, decided)
	require.NoError(t, err)
	require.Len(t, s.awaiting(3), 1)
	s.waiters[0] = nil
	require.Empty(t, s.awaiting(4))
	require.Panics(t, func() { s.awaiting(3) })
}
