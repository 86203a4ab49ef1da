//go:build !macrules

package server

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
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

// TestConnectionsThatDoNotLeave: connections that are closed for others and keep their threads waiting, as for the file
// system of a descriptor that does not answer, are bounded, and keep no other process out until they are many times as
// many.
func TestConnectionsThatDoNotLeave(t *testing.T) {
	d := arrivals{most: 2}
	enter := func(process int) *visitor {
		a, b, err := wiretest.Pair()
		require.NoError(t, err)
		t.Cleanup(func() { _, _ = a.Close(), b.Close() })
		return d.enter(a, caller{pid: process, user: uint32(os.Geteuid())}, await.Patience)
	}
	var stuck []*visitor
	for d.room(1) {
		stuck = append(stuck, enter(1))
	}
	require.Len(t, stuck, 2*d.most)
	for n := 2; d.room(n); n++ { // another process for each
		stuck = append(stuck, enter(n))
	}
	require.Len(t, d.leaving, mostLeaving*d.most)
	for _, v := range stuck {
		d.leave(v)
	}
	require.Empty(t, d.all)
	require.Empty(t, d.leaving)
	require.True(t, d.room(1))
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

// TestLargeExecutables: one of 300 GB is refused with its size, and one that is not read in the time for hello with how
// far it was.
func TestLargeExecutables(t *testing.T) {
	var h hashes
	_, err := h.of(t.Context(), executable(t, 300<<30))
	require.ErrorIs(t, err, ane.ErrExhausted)
	require.ErrorContains(t, err, "322122547200")
	late, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = h.of(late, executable(t, 1<<20))
	require.ErrorIs(t, err, ane.ErrExhausted)
	require.ErrorContains(t, err, "0 of the 1048576 bytes")
	require.Empty(t, h.sums)
}

// TestHashes: an executable is read once until it changes, and a bounded number is remembered.
func TestHashes(t *testing.T) {
	var h hashes
	f := executable(t, 2*hashChunk+1)
	want := make([]byte, 2*hashChunk+1)
	for _, text := range []string{"", "longer than it was"} {
		want = append(want, text...)
		require.NoError(t, os.WriteFile(f.Name(), want, 0o600))
		for range 2 {
			sum, err := h.of(t.Context(), f)
			require.NoError(t, err)
			require.Equal(t, sha256.Sum256(want), sum)
		}
	}
	require.Len(t, h.sums, 2)
	for i := range 2 * maxHashes {
		require.NoError(t, f.Truncate(int64(i)))
		_, err := h.of(t.Context(), f)
		require.NoError(t, err)
	}
	require.LessOrEqual(t, len(h.sums), maxHashes)
}

// TestStatsBeforeHello: the counters are told to a process that has not introduced itself.
func TestStatsBeforeHello(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.raw(alice)
	require.Zero(t, p.counter(t, "clients"))
	require.ErrorIs(t, p.ask(wire.KindPing, &wire.Empty{}, &wire.Empty{}), ane.ErrDenied)
	gone(t, p)
}

// TestMakingRoomIsNoRefusal: a silent connection that is closed for another one is neither counted nor logged as a
// client that was refused.
func TestMakingRoomIsNoRefusal(t *testing.T) {
	b := startBroker(t, Config{})
	here, there, err := wiretest.Pair()
	require.NoError(t, err)
	defer here.Close()
	peer := caller{pid: os.Getpid()}
	v := b.arrivals.enter(there, peer, await.Patience)
	require.NotNil(t, v)
	v.close()
	require.NoError(t, b.answer(v, peer))
	b.arrivals.leave(v)
	require.Zero(t, b.counts.refusedPeer.Load())
}
