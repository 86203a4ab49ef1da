package apple_test

import (
	"context"
	"math"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/unimem"
)

// growth runs f in five equal parts and returns the least growth of the process in
// the last four. A leak grows in all of them; memory that the runtime and malloc keep
// now and then does not.
func growth(t *testing.T, rounds int, f func(int)) int64 {
	const stretches = 5
	least := int64(math.MaxInt64)
	for s := range stretches {
		before := resident(t)
		for i := range rounds / stretches {
			f(s*rounds/stretches + i)
		}
		if grown := resident(t) - before; s > 0 {
			least = min(least, grown)
		}
	}
	return least
}

// resident returns the memory of the process without what the runtime caches.
func resident(t *testing.T) int64 {
	debug.FreeOSMemory()
	n, err := procmem.Proportional()
	if err != nil {
		t.Skip(err)
	}
	return n
}

// drift is the allowed growth of a part. A leak of 64 bytes in each of 20,000 rounds
// exceeds it.
const drift = 512 << 10

// allowed is drift, and more where the race detector keeps memory of its own, for example for every goroutine.
func allowed() int64 {
	if effort.Race {
		return 8 * drift
	}
	return drift
}

// rounds is effort.Rounds, but a twentieth where the race detector's own memory hides a small leak.
func rounds(full, usual int) int {
	if effort.Race {
		return full / 20
	}
	return effort.Rounds(full, usual)
}

// TestGrowthSeesALeak: growth detects a leak of 64 bytes per round, here 16 KiB in
// every 256th.
func TestGrowthSeesALeak(t *testing.T) {
	every := func(then func(*unimem.Block)) func(int) {
		return func(i int) {
			if i%256 == 0 {
				b, err := unimem.Open(16<<10, unimem.Warm())
				require.NoError(t, err)
				then(b)
			}
		}
	}
	require.Greater(t, growth(t, 100_000, every(func(b *unimem.Block) {
		t.Cleanup(func() { require.NoError(t, b.Close()) })
	})), int64(drift))
	require.Less(t, growth(t, 100_000, every(func(b *unimem.Block) { require.NoError(t, b.Close()) })), int64(drift))
}

func TestManyEvaluationsLeaveNothing(t *testing.T) {
	r := newRig(t, open(t), 1)
	grown := growth(t, rounds(100_000, 20_000), func(int) {
		_, err := r.model.Evaluate(context.Background(), r.request)
		require.NoError(t, err)
	})
	require.Less(t, grown, allowed())
	require.NoError(t, r.run(t.Context(), 3, 1))
}

func TestManyExceptionsLeaveNothing(t *testing.T) {
	f := framework(t)
	r := newRig(t, open(t), 1)
	n := rounds(100_000, 20_000)
	require.NoError(t, f.Fault(selEvaluate, standin.Exception, n, 0))
	defer f.ClearFaults()
	grown := growth(t, n, func(int) {
		_, err := r.model.Evaluate(context.Background(), r.request)
		var b *objcbridge.Error
		require.ErrorAs(t, err, &b)
		require.Equal(t, "exception", b.Kind.String())
	})
	require.Less(t, grown, allowed())
	require.NoError(t, r.run(t.Context(), 3, 1))
}

// TestManyProgramsLeaveNothing compiles a new program each time, so that none comes
// from the cache.
func TestManyProgramsLeaveNothing(t *testing.T) {
	f := framework(t)
	e := open(t)
	grown := growth(t, rounds(1000, 300), func(int) {
		x, err := e.Compile(context.Background(), ane.Source{File: "new.mil", Text: text(fresh())})
		require.NoError(t, err)
		require.False(t, x.Cached())
		require.NoError(t, x.Unload(context.Background()))
		require.NoError(t, x.Load(context.Background()))
		require.NoError(t, x.Unload(context.Background()))
		require.NoError(t, x.Close())
		f.PurgeAll()
	})
	require.Less(t, grown, allowed())
	require.Zero(t, e.Usage().Programs)
	require.Zero(t, e.Usage().Identities)
	require.Empty(t, programFiles(t))
}

func TestManyGoroutines(t *testing.T) {
	e := open(t)
	const users = 64
	rounds := 50
	if !effort.Full() {
		rounds = 10
	}
	var all sync.WaitGroup
	fail := make(chan error, users)
	for u := range users {
		r := newRig(t, e, 1+u%4)
		all.Go(func() {
			for i := range rounds {
				if err := r.run(context.Background(), float32(u+i), float32(1+u%4)); err != nil {
					fail <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(fail)
	for err := range fail {
		t.Error(err)
	}
}

// TestRequestsInFlightAtClose: Close of a Model waits for requests in flight and
// works afterwards.
func TestRequestsInFlightAtClose(t *testing.T) {
	f := framework(t)
	r := newRig(t, open(t), 1)
	require.NoError(t, f.Fault(selEvaluate, standin.Hang, 1, 0))
	defer f.ClearFaults()
	done := make(chan error, 1)
	go func() {
		_, err := r.model.Evaluate(context.Background(), r.request)
		done <- err
	}()
	await.Until(t, "a run hangs", func() bool { return f.Counts().Hanging == 1 })
	require.ErrorIs(t, r.request.Close(), ane.ErrBusy)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond) // the run takes longer
	defer cancel()
	require.ErrorIs(t, r.model.Unload(ctx), ane.ErrDeadline)
	require.ErrorIs(t, r.model.Close(ctx), ane.ErrInUse)
	require.ErrorIs(t, r.x.Block().Close(), unimem.ErrInUse)
	f.ReleaseHangs()
	require.NoError(t, <-done)
	require.NoError(t, r.run(t.Context(), 5, 1))
}
