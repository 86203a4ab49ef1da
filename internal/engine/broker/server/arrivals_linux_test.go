package server

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
)

// TestSilentSocketsKeepNoneOut: connections that say nothing, more than there are places, are closed for others, and a
// client is admitted long before their time for the hello is over. The counters need no place.
func TestSilentSocketsKeepNoneOut(t *testing.T) {
	path := listen(t, Config{Stay: true})
	first := quiet(t, path)
	places := placesFor(MaxClients)
	for range 2 * (places.all + places.crowd) {
		quiet(t, path)
	}
	p := dial(t, path)
	r, err := p.ready(model(t, "identity"), 21)
	require.NoError(t, err)
	require.NoError(t, p.evaluate(r, 0))
	gone(t, first) // the oldest
	for range places.perProcess - 1 {
		dial(t, path)
	}
	full := quiet(t, path)
	require.EqualValues(t, places.perProcess, full.counter(t, "clients"))
	err = full.greet("")
	require.ErrorIs(t, err, ane.ErrExhausted)
	require.ErrorContains(t, err, "clients of one process")
	require.NoError(t, p.evaluate(r, 0))
}

// TestPlacesForOthers: the last places are for processes that have none.
func TestPlacesForOthers(t *testing.T) {
	s := &server{sessions: map[*session]struct{}{}, places: placesFor(MaxClients)}
	join := func(process int) error {
		one := &session{visitor: &visitor{process: process}}
		if err := s.place(one); err != nil {
			return err
		}
		s.sessions[one] = struct{}{}
		return nil
	}
	for process := range 3 {
		for range s.places.perProcess {
			if join(process) != nil {
				break
			}
		}
	}
	require.Len(t, s.sessions, MaxClients-s.places.forOthers+1,
		"all but those for processes that have none, and one of them")
	require.ErrorIs(t, join(0), ane.ErrExhausted)
	for process := range s.places.forOthers - 1 {
		require.NoError(t, join(100+process))
	}
	require.ErrorIs(t, join(1000), ane.ErrExhausted)
	require.EqualValues(t, MaxClients, s.active.Load())
}

// TestPlacesBeside: MaxClients where the usual limit of a process holds, and fewer where descriptors are few.
func TestPlacesBeside(t *testing.T) {
	for limit, want := range map[int64]int{1 << 18: MaxClients, 1024: MaxClients, 384: 44, 64: 4, 16: 1} {
		require.Equal(t, want, placesBeside(limit-spare(limit, reservedFiles)), limit)
	}
	for clients, want := range map[int]places{64: {64, 32, 16, 16}, 4: {4, 2, 1, 2}, 1: {1, 1, 0, 2}} {
		require.Equal(t, want, placesFor(clients))
	}
}

// TestForeignConnectionsAreFew: those of other users wait for their refusal a few at a time.
func TestForeignConnectionsAreFew(t *testing.T) {
	d := arrivals{most: MaxClients}
	enter := func() *visitor {
		a, b, err := wiretest.Pair()
		require.NoError(t, err)
		t.Cleanup(func() { _, _ = a.Close(), b.Close() })
		return d.enter(a, caller{pid: 1, user: uint32(os.Geteuid()) + 1}, await.Patience)
	}
	for range maxForeign {
		v := enter()
		require.NotNil(t, v)
		defer d.leave(v)
	}
	require.Nil(t, enter())
	require.Len(t, d.all, maxForeign)
}

// executable makes a sparse file.
func executable(t *testing.T, size int64) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "executable"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	require.NoError(t, f.Truncate(size))
	return f
}

// waiting is a connection of a client whose executable is read.
func waiting(t *testing.T) (fd int, leave func()) {
	t.Helper()
	a, f, err := wiretest.PairFile()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = a.Close(), f.Close() })
	return int(f.Fd()), func() { _ = a.Close() }
}

// TestLargeExecutables: one of 300 GB is refused with its size, and none of it is read.
func TestLargeExecutables(t *testing.T) {
	var h hashes
	h.chunk = func(int64) { t.Error("it is read") }
	fd, _ := waiting(t)
	_, err := h.of(t.Context(), executable(t, 300<<30), fd)
	require.ErrorIs(t, err, ane.ErrExhausted)
	require.ErrorContains(t, err, "322122547200")
}

// TestHashingEndsWithItsClients: an executable is read once for all clients that run it, on while one of them waits,
// and no further when all have gone; one whose time is over does not wait.
func TestHashingEndsWithItsClients(t *testing.T) {
	var h hashes
	at, next := make(chan int64), make(chan struct{})
	h.chunk = func(n int64) { at <- n; <-next }
	f := executable(t, 10*hashChunk)
	type end struct {
		sum [sha256.Size]byte
		err error
	}
	begin := func(ctx context.Context, fd int) chan end {
		done := make(chan end, 1)
		go func() {
			sum, err := h.of(ctx, f, fd)
			done <- end{sum, err}
		}()
		return done
	}
	waiters := func(n int) {
		t.Helper()
		eventually(t, "they wait", func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			for _, run := range h.open {
				return len(run.waiting) == n
			}
			return n == 0
		})
	}
	fd, leave := waiting(t)
	first := begin(t.Context(), fd)
	require.EqualValues(t, hashChunk, <-at)
	other, away := waiting(t)
	second := begin(t.Context(), other)
	ctx, cancel := context.WithCancel(t.Context())
	last, _ := waiting(t)
	third := begin(ctx, last)
	waiters(3)
	cancel()
	require.ErrorIs(t, (<-third).err, ane.ErrDeadline)
	waiters(2)
	leave()
	next <- struct{}{}
	require.EqualValues(t, 2*hashChunk, <-at, "the second waits still, and it is read once")
	away()
	next <- struct{}{}
	require.ErrorIs(t, (<-first).err, errLeft)
	require.ErrorIs(t, (<-second).err, errLeft)

	h.chunk = nil
	var all sync.WaitGroup
	for range 8 {
		fd, _ := waiting(t)
		all.Go(func() {
			sum, err := h.of(t.Context(), f, fd)
			if err != nil || sum != sha256.Sum256(make([]byte, 10*hashChunk)) {
				t.Error(sum, err)
			}
		})
	}
	all.Wait()
	require.Empty(t, h.open)
}

// TestStatsBeforeHello: the counters are told to a process that has not introduced itself.
func TestStatsBeforeHello(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.raw(alice)
	require.Zero(t, p.counter(t, "clients"))
	require.ErrorIs(t, p.ask(wire.KindPing, &wire.Empty{}, &wire.Empty{}), ane.ErrDenied)
	gone(t, p)
}
