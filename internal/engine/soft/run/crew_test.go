package run

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// A helper that looks for work is picked before one without a goroutine, and leaves only if none has picked it.
func TestCrew(t *testing.T) {
	var c Crew
	a, looks := c.pick()
	require.False(t, looks, "a new helper has no goroutine")
	b, looks := c.pick()
	require.False(t, looks)
	require.NotSame(t, a, b)

	a.look()
	b.look()
	require.True(t, b.leave())
	require.False(t, b.leave(), "it has left")
	got, looks := c.pick()
	require.Same(t, a, got)
	require.True(t, looks)
	require.False(t, a.leave(), "it was picked")
	got, looks = c.pick()
	require.Same(t, b, got, "helpers without a goroutine are kept")
	require.False(t, looks)
}

// A helper that was picked as it gave up computes what it was picked for.
func TestPickedHelperStays(t *testing.T) {
	var c Crew
	h, _ := c.pick()
	h.look()
	picked, _ := c.pick()
	require.Same(t, h, picked)
	found := make(chan *forked)
	go func() { found <- h.find(0) }()
	f := &forked{}
	h.next.Store(f)
	require.Same(t, f, <-found)
	h.next.Store(nil)

	h.look()
	require.Nil(t, h.find(0), "nobody has picked it")
	require.Equal(t, []*helper{h}, c.ended)
}

// wandering is a runner that gives its processor away some times and counts its items.
type wandering struct{ items *atomic.Int64 }

func (wandering) Run(*Call) {}

func (r wandering) Span(_ *Call, lo, hi, worker int) {
	for range (lo + worker) % 5 {
		runtime.Gosched()
	}
	r.items.Add(int64(hi - lo))
}

// Callers that share a crew have each item computed once, and no goroutine is left after the last of them.
func TestCrewOfManyCallers(t *testing.T) {
	const callers, forks, most = 8, 200, 4
	var c Crew
	var items atomic.Int64
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			own := &Call{Run: wandering{&items}, Ctx: context.Background(), Crew: &c}
			for i := range forks {
				own.fork(100, 2+i%(most-1))
			}
		})
	}
	all.Wait()
	require.EqualValues(t, callers*forks*100, items.Load())
	for {
		c.mu.Lock()
		looking, ended := len(c.looking), len(c.ended)
		c.mu.Unlock()
		if looking == 0 {
			require.Positive(t, ended)
			require.LessOrEqual(t, ended, callers*(most-1))
			return
		}
		runtime.Gosched()
	}
}

func TestForksDoNotAllocate(t *testing.T) {
	var items atomic.Int64
	c := &Call{Run: wandering{&items}, Ctx: context.Background(), Crew: &Crew{}}
	require.Zero(t, testing.AllocsPerRun(100, func() { c.fork(100, 3) }))
}
