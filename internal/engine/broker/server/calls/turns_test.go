package calls

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/broker/server/resources"
)

// busy is turns with one place, which a task has until let is called, and a log of what ran.
func busy(t *testing.T) (on *Turns, add func(client uint64, name string, work func(*turn)), let func() []string) {
	on = NewTurns(1)
	on.Slice = 0
	var mu sync.Mutex
	var log []string
	var all sync.WaitGroup
	begun, gate := make(chan struct{}), make(chan struct{})
	all.Go(func() {
		if err := on.Do(t.Context(), 1<<32, time.Hour, "test", func(context.Context) error {
			close(begun)
			<-gate
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
	await.Value(t, begun)
	waiting := int32(0)
	add = func(client uint64, name string, work func(*turn)) {
		all.Go(func() {
			if err := on.Do(t.Context(), client, 100*time.Hour, "test", func(ctx context.Context) error {
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
		require.Equal(t, 1, on.free)
		return log
	}
}

// lasts has a compile have run for some time.
func lasts(d time.Duration) func(*turn) { return func(k *turn) { k.since = k.since.Add(-d) } }

// TestTurnsAreFair: a client that has one compile does not wait for all of a client that has many, and one with short
// compiles not for the long ones of another.
func TestTurnsAreFair(t *testing.T) {
	_, add, let := busy(t)
	for _, name := range []string{"a1", "a2", "a3", "a4"} {
		add(1, name, lasts(time.Hour))
	}
	add(2, "b1", lasts(time.Minute))
	add(3, "c1", lasts(150*time.Minute))
	add(2, "b2", lasts(2*time.Hour))
	add(3, "c2", nil)
	require.Equal(t, []string{"a1", "b1", "c1", "b2", "a2", "a3", "c2", "a4"}, let())
}

// TestLateClientsTakeNoMore: a client that comes late has no more of the places from then on than those that were there.
func TestLateClientsTakeNoMore(t *testing.T) {
	on, add, let := busy(t)
	add(1, "a1", lasts(time.Hour))
	add(1, "a2", func(k *turn) {
		on.mu.Lock()
		defer on.mu.Unlock()
		require.Equal(t, on.used[1], on.now)
		require.GreaterOrEqual(t, on.now, time.Hour)
	})
	let()
}

// TestLongCompilesGiveWay: a compile that runs on gives its place to those of clients that have used less, between its
// steps, and has its turn again when they have used as much.
func TestLongCompilesGiveWay(t *testing.T) {
	_, add, let := busy(t)
	var log []string // one compile runs at a time
	note := func(name string, d time.Duration) func(*turn) {
		return func(k *turn) { log = append(log, name); lasts(d)(k) }
	}
	add(1, "long", func(k *turn) {
		for _, name := range []string{"long 1", "long 2", "long 3"} {
			note(name, time.Hour)(k)
			k.Yield()
		}
	})
	for range 4 {
		add(2, "short", note("short", 25*time.Minute))
	}
	let()
	require.Equal(t, []string{"long 1", "short", "short", "short", "long 2", "short", "long 3"}, log)
}

// TestTimeInLineDoesNotCount: the time of a compile ends while it has a place, and not in line.
func TestTimeInLineDoesNotCount(t *testing.T) {
	on, add, let := busy(t)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		gone <- on.Do(ctx, 5, time.Hour, "test", func(context.Context) error { return nil })
	}()
	await.Until(t, "it waits", func() bool { return on.Waiting.Load() == 1 })
	cancel()
	require.ErrorIs(t, await.Value(t, gone), ane.ErrDeadline)
	add(1, "yields", func(k *turn) {
		require.True(t, k.holds)
		k.left = time.Minute
		k.Yield() // to the next one
		require.LessOrEqual(t, k.left, time.Minute)
		require.NoError(t, k.Err())
	})
	add(2, "other", func(k *turn) { k.since = k.since.Add(-time.Hour) })
	require.Equal(t, []string{"yields", "other"}, let())

	err := on.Do(t.Context(), 1, 0, "test", func(ctx context.Context) error {
		<-ctx.Done()
		return ane.Deadline("test", resources.Name, ctx.Err())
	})
	require.ErrorIs(t, err, ane.ErrDeadline)
}
