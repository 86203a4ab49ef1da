//go:build !macrules

package server

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

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

// hash is of for a file that is no executable.
func (h *hashes) hash(ctx context.Context, f *os.File, fd int) ([sha256.Size]byte, error) {
	key, err := keyOf(int(f.Fd()), "")
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	return h.of(ctx, key, int(f.Fd()), fd)
}

// later is a clock by which files of this test have not changed for long.
func later() time.Time { return time.Now().Add(time.Hour) }

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
	_, err := h.hash(t.Context(), executable(t, 300<<30), fd)
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
			sum, err := h.hash(ctx, f, fd)
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
	require.ErrorIs(t, (<-third).err, ane.ErrExhausted)
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
			sum, err := h.hash(t.Context(), f, fd)
			if err != nil || sum != sha256.Sum256(make([]byte, 10*hashChunk)) {
				t.Error(sum, err)
			}
		})
	}
	all.Wait()
	require.Empty(t, h.open)
}

// TestHashingGoesOn: an executable that takes longer to read than the time for the hello is read on from there at the
// next attempt, and the refusal says so. One that was changed after that is read from its start.
func TestHashingGoesOn(t *testing.T) {
	h := hashes{now: later}
	const chunks = 6
	f := executable(t, chunks*hashChunk)
	var read []int64 // by attempt
	attempt := func(most int64) ([sha256.Size]byte, error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		fd, _ := waiting(t)
		n := int64(0)
		at, next := make(chan int64, 2*chunks), make(chan struct{})
		h.chunk = func(now int64) {
			at <- now
			if n++; n == most {
				cancel()
				<-next // until the client has gone
			}
		}
		sum, err := h.hash(ctx, f, fd)
		close(next)
		eventually(t, "it is not read", func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			return len(h.line) == 0
		})
		read = append(read, <-at)
		return sum, err
	}
	for i := range 2 {
		_, err := attempt(2)
		require.ErrorIs(t, err, ane.ErrExhausted)
		require.ErrorContains(t, err, fmt.Sprintf("%d of the %d bytes", (2*i+1)*hashChunk, chunks*hashChunk))
		require.ErrorContains(t, err, "try again")
	}
	sum, err := attempt(0)
	require.NoError(t, err)
	require.Equal(t, sha256.Sum256(make([]byte, chunks*hashChunk)), sum)
	require.Equal(t, []int64{hashChunk, 3 * hashChunk, 5 * hashChunk}, read)
	require.Empty(t, h.begun)

	change(t, f, "other")
	_, err = attempt(2)
	require.Error(t, err)
	change(t, f, "third")
	_, err = attempt(0)
	require.NoError(t, err)
	require.EqualValues(t, hashChunk, read[len(read)-1])

	// What was begun is remembered of so many, of those of which most was read.
	for i := range 2 * maxHashes {
		h.keep(hashKey{inode: uint64(i)}, progress{sha256.New(), int64(1 + i%maxHashes*2)})
	}
	require.Len(t, h.begun, maxHashes)
	require.Contains(t, h.begun, hashKey{inode: maxHashes - 1})
	require.NotContains(t, h.begun, hashKey{inode: 0})
}

// change writes to the beginning of a file until it has another key: a tick of the kernel's clock has to pass.
func change(t *testing.T, f *os.File, text string) {
	t.Helper()
	key, err := keyOf(int(f.Fd()), "")
	require.NoError(t, err)
	eventually(t, "it has another key", func() bool {
		write(t, f, text)
		now, err := keyOf(int(f.Fd()), "")
		require.NoError(t, err)
		return now != key
	})
}

// write writes to the beginning of a file.
func write(t *testing.T, f *os.File, text string) {
	t.Helper()
	_, err := f.WriteAt([]byte(text), 0)
	require.NoError(t, err)
}

// TestChangedExecutables: one that is changed while it is read is neither remembered nor taken for what it was; one
// that was changed just before, so that another change might not move its times, is not remembered.
func TestChangedExecutables(t *testing.T) {
	h := hashes{now: later}
	f := executable(t, 2*hashChunk)
	changed := false
	h.chunk = func(int64) {
		if !changed {
			change(t, f, "other")
			changed = true
		}
	}
	fd, _ := waiting(t)
	_, err := h.hash(t.Context(), f, fd)
	require.ErrorIs(t, err, errChanged)
	require.Empty(t, h.sums)

	info, err := f.Stat()
	require.NoError(t, err)
	h.now = info.ModTime // no time has passed since
	_, err = h.hash(t.Context(), f, fd)
	require.NoError(t, err)
	require.Empty(t, h.sums)
	h.now = later
	_, err = h.hash(t.Context(), f, fd)
	require.NoError(t, err)
	require.Len(t, h.sums, 1)
}

// TestShortExecutablesFirst: long executables that others run do not keep a short one waiting until they are read: it
// would use up the time for its hello. One whose clients have gone leaves the line.
func TestShortExecutablesFirst(t *testing.T) {
	h := hashes{now: later}
	tokens := make(chan struct{})
	h.chunk = func(int64) { <-tokens }
	var all sync.WaitGroup
	begin := func(ctx context.Context, chunks int64) chan error {
		done := make(chan error, 1)
		f := executable(t, chunks*hashChunk)
		fd, _ := waiting(t)
		all.Go(func() {
			_, err := h.hash(ctx, f, fd)
			done <- err
		})
		return done
	}
	const long = 4 * maxHashing
	known := func(n int) {
		t.Helper()
		eventually(t, "they are in line", func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			return len(h.open) == n
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	for range long {
		begin(ctx, 64)
	}
	known(long)
	tokens <- struct{}{} // one of them is being read
	short := begin(t.Context(), 2)
	known(long + 1)
	for waits := true; waits; {
		select {
		case tokens <- struct{}{}:
		case err := <-short:
			require.NoError(t, err)
			waits = false
		}
	}
	h.mu.Lock()
	require.Len(t, h.sums, 1, "the short one was read first")
	h.mu.Unlock()
	cancel()
	all.Wait()
	for waits := true; waits; {
		select {
		case tokens <- struct{}{}:
		default:
			h.mu.Lock()
			waits = len(h.open) > 0
			h.mu.Unlock()
		}
	}
}

// TestStuckExecutables: executables on a file system that does not answer keep others out for the time of a hello, and
// cost a bounded number of threads.
func TestStuckExecutables(t *testing.T) {
	var h hashes
	answer, stuck := make(chan struct{}), make(chan struct{}, maxInLine)
	h.chunk = func(n int64) {
		if n == hashChunk {
			stuck <- struct{}{}
			<-answer
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	begin := func() {
		fd, _ := waiting(t)
		f := executable(t, hashChunk)
		all.Go(func() { _, _ = h.hash(ctx, f, fd) })
	}
	for range maxHashing {
		begin()
		<-stuck
	}
	fd, _ := waiting(t)
	short := make(chan error, 1)
	f := executable(t, hashChunk+1)
	all.Go(func() {
		_, err := h.hash(t.Context(), f, fd)
		short <- err
	})
	eventually(t, "it is in line", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.line) == maxHashing+1
	})
	cancel()
	<-stuck // it has its turn although the others have not ended
	h.mu.Lock()
	for len(h.line) < maxInLine {
		h.line[&hashing{}] = struct{}{}
	}
	h.mu.Unlock()
	_, err := h.hash(t.Context(), executable(t, 1), fd)
	require.ErrorIs(t, err, ane.ErrExhausted)
	close(answer)
	require.NoError(t, <-short)
	all.Wait()
	eventually(t, "the others end", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.open) == 0
	})
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
