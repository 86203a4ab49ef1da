package broker

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPaceOfFailures(t *testing.T) {
	var p pace
	now := time.Unix(1000, 0)
	require.NoError(t, p.refusal(now))
	why := errors.New("why")
	for range 3 {
		p.ended(now, why)
		require.Equal(t, why, p.refusal(now.Add(refill-1)))
		now = now.Add(refill)
		require.NoError(t, p.refusal(now))
	}
	p.ended(now, nil)
	require.NoError(t, p.refusal(now))
}

// Brokers that start well and die at once are started in a burst, then evenly.
func TestPaceOfDeaths(t *testing.T) {
	var p pace
	now := time.Unix(1000, 0)
	for range burst {
		require.Zero(t, p.take(now))
	}
	for i := range 5 {
		require.Equal(t, time.Duration(i+1)*refill, p.take(now))
	}
	now = now.Add(5*refill + burst*refill)
	for range burst {
		require.Zero(t, p.take(now))
	}
	require.Equal(t, refill, p.take(now))
}
