package ane

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGateIsShutAtFirst(t *testing.T) {
	var g gate
	require.False(t, g.enter())
	require.NoError(t, g.shut(context.Background()), "shutting a shut gate")
	g.open()
	require.True(t, g.enter())
	g.leave()
}

func TestShutEndsWithItsContext(t *testing.T) {
	var g gate
	g.open()
	require.True(t, g.enter())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, g.shut(ctx), context.Canceled)
	require.False(t, g.enter(), "it stays shut")
	g.leave()
	require.NoError(t, g.shut(context.Background()))
}

// No caller is inside after shut has returned, even if many enter and leave.
func TestGateUnderLoad(t *testing.T) {
	var g gate
	var inside, visits atomic.Int64
	g.open()
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
				if g.enter() {
					inside.Add(1)
					visits.Add(1)
					inside.Add(-1)
					g.leave()
				}
			}
		})
	}
	for n := range 2000 {
		ctx, cancel := context.WithCancel(context.Background())
		if n%2 == 1 {
			cancel() // half of them return early if they have to wait
		}
		if err := g.shut(ctx); err == nil && inside.Load() != 0 {
			t.Error("a caller is inside a shut gate")
		}
		g.open()
		cancel()
	}
	for visits.Load() == 0 {
		continue
	}
	close(stop)
	wg.Wait()
	require.NoError(t, g.shut(context.Background()))
	require.Zero(t, g.inside)
}
