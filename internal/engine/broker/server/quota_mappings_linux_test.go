//go:build !macrules

package server

import (
	"bytes"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/broker/server/resources"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/unimem"
)

// mappings counts those of this process that are memfds.
func mappings(t *testing.T) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	return bytes.Count(maps, []byte("memfd:"))
}

// only is the one session of a broker.
func (b *broker) only() *session {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.sessions {
		return s
	}
	return nil
}

// page makes a sealed memfd of one page and sends it as often as a frame takes.
func page(t *testing.T) (q *wire.Compile, fds []int) {
	t.Helper()
	f, err := wire.Seal("page", bytes.Repeat([]byte{'x'}, 4096))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	for range wire.MaxDescriptors {
		fds = append(fds, int(f.Fd()))
	}
	return &wire.Compile{File: "page", TextSize: 4096}, fds
}

// TestCompilesMapInTurn: a compile that waits for its turn has no mappings, and has its descriptors
// charged. 24 clients with 255 waiting compiles of 16 files each had 97,920 mappings.
func TestCompilesMapInTurn(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.join(alice, "")
	c := b.only()
	for range maxCompiling {
		c.compiles.doing <- struct{}{}
	}
	q, fds := page(t)
	before := mappings(t)
	const waiting = 100
	for range waiting {
		_, err := p.post(wire.KindCompile, q, fds...)
		require.NoError(t, err)
	}
	require.NoError(t, p.ask(wire.KindPing, &wire.Empty{}, &wire.Empty{}))
	require.Equal(t, before, mappings(t))
	require.EqualValues(t, waiting*len(fds), p.counter(t, "own descriptors"))
	for range maxCompiling {
		<-c.compiles.doing
	}
	for id := range p.id {
		if id > 1 && id <= waiting+1 {
			require.ErrorIs(t, p.read(id, &wire.Compiled{}), ane.ErrCompile)
		}
	}
	require.Zero(t, p.counter(t, "own descriptors"))
	require.Zero(t, p.counter(t, "own mappings"))
}

// TestDescriptorsAreBudgeted: neither one client nor all of them exceed their budgets, and a client has its
// floor whatever the others have taken.
func TestDescriptorsAreBudgeted(t *testing.T) {
	b := startBroker(t, Config{process: allowance{files: 4 * MaxClients, mappings: 1 << 16, memory: 1 << 30}})
	const floor = 2
	m, err := unimem.Open(1 << 14)
	require.NoError(t, err)
	defer m.Close()
	f, err := m.Share()
	require.NoError(t, err)
	defer f.Close()
	// take registers surfaces until one is refused, and counts them.
	take := func(p *peer) (n int, err error) {
		for ; err == nil; n++ {
			err = p.ask(wire.KindSurface, &wire.Surface{Size: 64, Token: uint32(n)}, &wire.Empty{}, int(f.Fd()))
		}
		return n - 1, err
	}
	all, before := 0, len(files())
	for range 3 {
		p := b.join(alice, "")
		n, err := take(p)
		require.ErrorIs(t, err, ane.ErrExhausted)
		require.ErrorContains(t, err, "descriptors")
		require.GreaterOrEqual(t, n, floor)
		all += n
	}
	require.LessOrEqual(t, all, 2*MaxClients+3*floor)
	late := b.join(mary, "")
	n, err := take(late)
	require.Equal(t, floor, n, "the floor of a client that comes last")
	var e *ane.Error
	require.ErrorAs(t, err, &e)
	require.Contains(t, e.Detail, "at most")
	require.NotEmpty(t, e.Hint)
	require.NotZero(t, late.counter(t, "refused for want of descriptors"))
	eventually(t, "refused descriptors are closed", func() bool { return len(files())-before <= all+n+2*4 })
}

// TestSurfacesAreBudgeted: a surface takes its mappings while it is registered, and no longer.
func TestSurfacesAreBudgeted(t *testing.T) {
	b := startBroker(t, Config{clients: 1, process: allowance{mappings: 4}})
	p := b.join(alice, "")
	for range 3 {
		first, _, err := p.surface(64)
		require.NoError(t, err)
		second, _, err := p.surface(64)
		require.NoError(t, err)
		require.EqualValues(t, 4, p.counter(t, "own mappings"))
		require.EqualValues(t, 2, p.counter(t, "surfaces mapped"))
		_, _, err = p.surface(64)
		require.ErrorIs(t, err, ane.ErrExhausted)
		require.ErrorContains(t, err, "mappings")
		for _, token := range []uint32{first, second} {
			require.NoError(t, p.ask(wire.KindDrop, &wire.Drop{Token: token}, &wire.Empty{}))
		}
		require.Zero(t, p.counter(t, "own mappings"))
	}
}

// TestBudgetsAreTold: the counters tell a client what it may have, and that can be had.
func TestBudgetsAreTold(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.join(alice, "")
	var s wire.Stats
	require.NoError(t, p.ask(wire.KindStats, &wire.Empty{}, &s))
	told := map[string]uint64{}
	for _, c := range s.Counters {
		require.NotContains(t, told, c.Name)
		told[c.Name] = c.Value
	}
	for kind, one := range resources.NewBudgets(resources.Needs{1 << 20, 1 << 20, 1 << 30}, 64).Now() {
		alone := resources.NewBudgets(resources.Needs{1 << 20, 1 << 20, 1 << 30}, 64).Open()
		var all, more resources.Needs
		all[kind], more[kind] = one.Each, 1
		require.NoError(t, alone.Take("test", "", all), one.What)
		require.ErrorIs(t, alone.Take("test", "", more), ane.ErrExhausted, one.What)
		alone.Close()
	}
	for _, one := range b.budgets.Now() {
		require.Positive(t, one.Each, one.What)
		require.EqualValues(t, one.Each, told["own "+one.What+" allowed"], one.What)
		require.EqualValues(t, one.Total, told[one.What+" allowed"], one.What)
	}
	require.EqualValues(t, MaxClients, told["clients allowed"])
	require.EqualValues(t, resources.MaxSurfaces, told["own surfaces allowed"])
}

// The engine keeps the processors that the process had, and what answers clients gets more.
func TestProcessors(t *testing.T) {
	n := runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(n)
	workers := Processors()
	require.Equal(t, 3, workers)
	require.Greater(t, runtime.GOMAXPROCS(0), workers)
	require.Equal(t, workers, Config{Workers: workers}.settled(admission.OwnerPolicy()).Workers)
	require.Equal(t, runtime.GOMAXPROCS(0), Config{}.settled(admission.OwnerPolicy()).Workers)
}
