package gate

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGateIsShutAtFirst(t *testing.T) {
	var g Gate
	require.False(t, g.Enter())
	require.NoError(t, g.Shut(context.Background()), "shutting a shut gate")
	g.Open()
	require.True(t, g.Enter())
	g.Leave()
}

func TestShutEndsWithItsContext(t *testing.T) {
	var g Gate
	g.Open()
	require.True(t, g.Enter())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, g.Shut(ctx), context.Canceled)
	require.False(t, g.Enter(), "it stays shut")
	g.Leave()
	require.NoError(t, g.Shut(context.Background()))
}

// No caller is inside after shut has returned, even if many enter and leave.
func TestGateUnderLoad(t *testing.T) {
	var g Gate
	var inside, visits atomic.Int64
	g.Open()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if g.Enter() {
					inside.Add(1)
					visits.Add(1)
					inside.Add(-1)
					g.Leave()
				}
			}
		})
	}
	for n := range 2000 {
		ctx, cancel := context.WithCancel(context.Background())
		if n%2 == 1 {
			cancel() // half of them return early if they have to wait
		}
		if err := g.Shut(ctx); err == nil && inside.Load() != 0 {
			t.Error("a caller is inside a shut gate")
		}
		g.Open()
		cancel()
	}
	for visits.Load() == 0 {
		continue
	}
	close(stop)
	wg.Wait()
	require.NoError(t, g.Shut(context.Background()))
	require.Zero(t, g.inside)
}
