package server

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
)

// busy is turns with one place, which a task has until let is called, and a log of what ran.
func busy(t *testing.T) (on *turns, add func(client uint64, name string, work func(*task)), let func() []string) {
	on = newTurns(1)
	on.slice = 0
	var mu sync.Mutex
	var log []string
	var all sync.WaitGroup
	begun, gate := make(chan struct{}), make(chan struct{})
	all.Go(func() {
		if err := on.do(t.Context(), 1<<32, shortCompiles, time.Hour, "test", func(context.Context) error {
			close(begun)
			<-gate
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
	await.Value(t, begun)
	waiting := int32(0)
	add = func(client uint64, name string, work func(*task)) {
		all.Go(func() {
			if err := on.do(t.Context(), client, shortCompiles, time.Hour, "test", func(ctx context.Context) error {
				mu.Lock()
				log = append(log, name)
				mu.Unlock()
				if work != nil {
					work(ctx.(*task))
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
		waiting++
		await.Until(t, "it waits", func() bool { return on.waiting.Load() == waiting })
	}
	return on, add, func() []string {
		close(gate)
		all.Wait()
		require.Zero(t, on.waiting.Load())
		require.Equal(t, 1, on.free)
		return log
	}
}

// TestTurnsAreFair: a client that has one compile does not wait for all of a client that has many.
func TestTurnsAreFair(t *testing.T) {
	_, add, let := busy(t)
	for _, name := range []string{"a1", "a2", "a3", "a4"} {
		add(1, name, nil)
	}
	add(2, "b1", nil)
	add(3, "c1", nil)
	add(2, "b2", nil)
	require.Equal(t, []string{"a1", "b1", "c1", "a2", "b2", "a3", "a4"}, let())
}

// TestLongCompilesGiveWay: a compile that runs on gives its place to those that have not run yet, between its steps,
// and has a turn after some of them.
func TestLongCompilesGiveWay(t *testing.T) {
	on, add, let := busy(t)
	var mu sync.Mutex
	var steps []uint64 // turns that were given before each step
	add(1, "long", func(k *task) {
		for range 3 {
			k.Yield()
			mu.Lock()
			steps = append(steps, on.turn)
			mu.Unlock()
		}
	})
	for range 2*shortInRow + 1 {
		add(2, "short", nil)
	}
	log := let()
	require.Equal(t, "long", log[0])
	require.Len(t, log, 2*shortInRow+2)
	// It had turn 2, and the next one after the shortInRow that it gave way to.
	require.Equal(t, []uint64{2 + shortInRow + 1, 2 + 2*shortInRow + 2}, steps[:2])
}

// TestTimeInLineDoesNotCount: the time of a compile ends while it has a place, and not in line.
func TestTimeInLineDoesNotCount(t *testing.T) {
	on, add, let := busy(t)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		gone <- on.do(ctx, 5, shortCompiles, time.Hour, "test", func(context.Context) error { return nil })
	}()
	await.Until(t, "it waits", func() bool { return on.waiting.Load() == 1 })
	cancel()
	require.ErrorIs(t, await.Value(t, gone), ane.ErrDeadline)
	add(1, "yields", func(k *task) {
		require.True(t, k.holds)
		k.left = time.Minute
		k.Yield() // to the next one
		require.LessOrEqual(t, k.left, time.Minute)
		require.NoError(t, k.Err())
	})
	add(2, "other", func(k *task) { k.since = k.since.Add(-time.Hour) })
	require.Equal(t, []string{"yields", "other"}, let())

	err := on.do(t.Context(), 1, shortCompiles, 0, "test", func(ctx context.Context) error {
		<-ctx.Done()
		return ane.Deadline("test", Name, ctx.Err())
	})
	require.ErrorIs(t, err, ane.ErrDeadline)
}
