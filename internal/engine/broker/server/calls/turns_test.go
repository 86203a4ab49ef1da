package calls

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/broker/server/resources"
)

// busy is turns with one place, which a task has until let is called, and a log of what ran.
func busy(t *testing.T) (on *Turns, add func(name string, work func(*turn)), let func() []string) {
	on = NewTurns(1)
	on.Slice = 0
	var mu sync.Mutex
	var log []string
	var all sync.WaitGroup
	begun, gate := make(chan struct{}), make(chan struct{})
	all.Go(func() {
		if err := on.Do(t.Context(), time.Hour, "test", func(context.Context) error {
			close(begun)
			<-gate
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
	await.Value(t, begun)
	waiting := int32(0)
	add = func(name string, work func(*turn)) {
		all.Go(func() {
			if err := on.Do(t.Context(), 100*time.Hour, "test", func(ctx context.Context) error {
				mu.Lock()
				log = append(log, name)
				mu.Unlock()
				if work != nil {
					work(ctx.(*turn))
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
		waiting++
		await.Until(t, "it waits", func() bool { return on.Waiting.Load() == waiting })
	}
	return on, add, func() []string {
		close(gate)
		all.Wait()
		require.Zero(t, on.Waiting.Load())
		require.Empty(t, on.places)
		return log
	}
}

// TestLongCompilesGiveWay: a compile that runs on gives its place to those that are in line, between its steps.
func TestLongCompilesGiveWay(t *testing.T) {
	_, add, let := busy(t)
	var short atomic.Int32
	add("long", func(k *turn) {
		await.Until(t, "both have run", func() bool {
			k.Yield()
			return short.Load() == 2
		})
	})
	for range 2 {
		add("short", func(*turn) { short.Add(1) })
	}
	let()
}

// TestTimeInLineDoesNotCount: the time of a compile ends while it has a place, and not in line.
func TestTimeInLineDoesNotCount(t *testing.T) {
	on, add, let := busy(t)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		gone <- on.Do(ctx, time.Hour, "test", func(context.Context) error { return nil })
	}()
	await.Until(t, "it waits", func() bool { return on.Waiting.Load() == 1 })
	cancel()
	require.ErrorIs(t, await.Value(t, gone), ane.ErrDeadline)
	add("yields", func(k *turn) {
		require.True(t, k.holds)
		k.left = time.Minute
		k.Yield() // to the next one
		require.LessOrEqual(t, k.left, time.Minute)
		require.NoError(t, k.Err())
	})
	add("other", func(k *turn) { k.since = k.since.Add(-time.Hour) })
	require.ElementsMatch(t, []string{"yields", "other"}, let())

	err := on.Do(t.Context(), 0, "test", func(ctx context.Context) error {
		<-ctx.Done()
		return ane.Deadline("test", resources.Name, ctx.Err())
	})
	require.ErrorIs(t, err, ane.ErrDeadline)
}
