//go:build !macrules

package server

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/internal/engine/soft"
)

// many binds n requests to one program, all on the same memory.
func (p *peer) many(t *testing.T, r *run, n int) []uint32 {
	t.Helper()
	list := make([]uint32, n)
	for i := range list {
		var b wire.Bound
		require.NoError(t, p.ask(wire.KindBind, &wire.Bind{Program: r.program, In: r.ports[0], Out: r.ports[1]}, &b))
		list[i] = b.Request
	}
	return list
}

func TestBackPressureAndCancel(t *testing.T) {
	open := make(chan struct{})
	b := startBroker(t, Config{Engine: doors(open)})
	p := b.join(alice, "")
	r, err := p.ready(model(t, "identity"), 21)
	require.NoError(t, err)
	requests := p.many(t, r, driverabi.QueueDepth+1)
	ids := make([]uint64, driverabi.QueueDepth)
	for i := range ids {
		ids[i], err = p.post(wire.KindEvaluate, &wire.Evaluate{Request: requests[i], Sequence: uint64(1000 + i)})
		require.NoError(t, err)
	}
	busy := func(kind wire.Kind, q wire.Payload, want error) {
		t.Helper()
		require.ErrorIs(t, p.ask(kind, q, &wire.Empty{}), want)
	}
	busy(wire.KindEvaluate, &wire.Evaluate{Request: requests[driverabi.QueueDepth], Sequence: 5}, ane.ErrExhausted)
	busy(wire.KindEvaluate, &wire.Evaluate{Request: requests[0], Sequence: 6}, ane.ErrBusy)
	busy(wire.KindEvaluate, &wire.Evaluate{Request: requests[driverabi.QueueDepth], Sequence: 1000}, ane.ErrInUse)
	busy(wire.KindUnbind, &wire.Unbind{Request: requests[0]}, ane.ErrBusy)
	busy(wire.KindUnload, &wire.Unload{Program: r.program}, ane.ErrBusy)
	eventually(t, "the first runs", func() bool { return b.driver.Stats().Running == 1 })
	require.Equal(t, driverabi.QueueDepth-1, b.driver.Stats().Queued)

	cancel := func(sequence uint64) wire.CancelState {
		t.Helper()
		var c wire.Cancelled
		require.NoError(t, p.ask(wire.KindCancel, &wire.Cancel{Sequence: sequence}, &c))
		require.Equal(t, sequence, c.Sequence)
		return c.State
	}
	require.Equal(t, wire.CancelMissed, cancel(5))
	require.Equal(t, wire.CancelQueued, cancel(1050))
	require.Equal(t, wire.CancelRunning, cancel(1000))
	for _, i := range []int{0, 50} {
		err := p.read(ids[i], &wire.Done{})
		require.ErrorIs(t, err, ane.ErrDeadline)
		require.ErrorIs(t, err, context.Canceled)
	}
	// A purge does not end what runs.
	require.NoError(t, p.ask(wire.KindPurge, &wire.Purge{}, &wire.Purged{}))
	close(open)
	for i, id := range ids {
		if i == 0 || i == 50 {
			continue
		}
		var d wire.Done
		require.NoError(t, p.read(id, &d))
		require.EqualValues(t, 1000+i, d.Sequence)
	}
	require.Empty(t, p.early, "answered twice, or what was not asked")
	require.NoError(t, p.evaluate(r, 0))
}

func TestDeadlines(t *testing.T) {
	b := startBroker(t, Config{Engine: doors(nil)})
	p := b.join(alice, "")
	r, err := p.ready(model(t, "identity"), 21)
	require.NoError(t, err)
	requests := p.many(t, r, 5)
	var ids []uint64
	for _, q := range requests {
		id, err := p.post(wire.KindEvaluate, &wire.Evaluate{Request: q, Sequence: uint64(q),
			Deadline: uint64(20 * time.Millisecond)})
		require.NoError(t, err)
		ids = append(ids, id)
	}
	for _, id := range ids {
		err := p.read(id, &wire.Done{})
		require.ErrorIs(t, err, ane.ErrDeadline)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
}

func TestQueueDepthOfAProgram(t *testing.T) {
	open := make(chan struct{})
	b := startBroker(t, Config{Engine: doors(open)})
	p := b.join(alice, "")
	c, err := p.compile(model(t, "identity"))
	require.NoError(t, err)
	var l wire.Loaded
	require.NoError(t, p.ask(wire.KindLoad,
		&wire.Load{Program: c.Program, QoS: 21, Args: wire.Arguments{QueueDepth: 2, PowerSaving: true}}, &l))
	require.EqualValues(t, 2, l.QueueDepth)
	r, err := p.tie(c)
	require.NoError(t, err)
	requests := p.many(t, r, 3)
	var ids []uint64
	for i := range 2 {
		id, err := p.post(wire.KindEvaluate, &wire.Evaluate{Request: requests[i], Sequence: uint64(i)})
		require.NoError(t, err)
		ids = append(ids, id)
	}
	require.ErrorIs(t, p.ask(wire.KindEvaluate, &wire.Evaluate{Request: requests[2], Sequence: 9}, &wire.Done{}),
		ane.ErrExhausted)
	close(open)
	for _, id := range ids {
		require.NoError(t, p.read(id, &wire.Done{}))
	}
	b.join(alice, "")
	b.join(mary, "")
	require.NoError(t, p.ask(wire.KindUnload, &wire.Unload{Program: c.Program}, &wire.Empty{}))
	require.NoError(t, p.ask(wire.KindLoad,
		&wire.Load{Program: c.Program, QoS: 21, Args: wire.Arguments{QueueDepth: driverabi.QueueDepth}}, &l))
	require.EqualValues(t, driverabi.QueueDepth/3, l.QueueDepth, "its part of what three want")
	require.NoError(t, p.evaluate(r, 0), "requests stay bound")
}

// TestWiredProgramStays keeps its place in the driver while it is unloaded.
func TestWiredProgramStays(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.join(alice, "")
	c, err := p.compile(model(t, "identity"))
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, p.ask(wire.KindLoad,
			&wire.Load{Program: c.Program, QoS: 21, Args: wire.Arguments{KeepWired: true}}, &wire.Loaded{}))
		require.NoError(t, p.ask(wire.KindUnload, &wire.Unload{Program: c.Program}, &wire.Empty{}))
		require.Equal(t, 1, b.driver.Stats().Resident)
	}
	require.NoError(t, p.ask(wire.KindRelease, &wire.Release{Program: c.Program}, &wire.Empty{}))
	require.Zero(t, b.driver.Stats().Resident)
}

// TestEngineThatFails gives its error back, and works again.
func TestEngineThatFails(t *testing.T) {
	fail := true
	var mu sync.Mutex
	inner := doors(nil)().(slow).Engine
	b := startBroker(t, Config{Engine: func() ane.Engine {
		return slow{inner, func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			if fail {
				return &ane.Error{Op: "evaluate", Engine: "slow", Err: ane.ErrEngine,
					Detail: "on fire", Domain: "d", Code: 8}
			}
			return nil
		}}
	}})
	p := b.join(alice, "")
	r, err := p.ready(model(t, "identity"), 21)
	require.NoError(t, err)
	err = p.evaluate(r, 0)
	require.ErrorIs(t, err, ane.ErrEngine)
	require.ErrorContains(t, err, "on fire")
	var ret driverabi.Return
	require.ErrorAs(t, err, &ret)
	mu.Lock()
	fail = false
	mu.Unlock()
	require.NoError(t, p.evaluate(r, 0))
}

// TestEightClientsOfMixedPriority have every request answered once, the lowest class
// among them.
func TestEightClientsOfMixedPriority(t *testing.T) {
	rounds := effort.Rounds(10_000, 500)
	b := startBroker(t, Config{})
	classes := []uint32{driverabi.QoSRealTime, driverabi.QoSUserInteractive, driverabi.QoSUserInitiated,
		driverabi.QoSDefault, driverabi.QoSUtility, driverabi.QoSBackground, 77, driverabi.QoSBackground}
	var all sync.WaitGroup
	for n, class := range classes {
		p := b.join(alice, driverabi.Restricted)
		r, err := p.ready(model(t, "identity"), class)
		require.NoError(t, err)
		requests := p.many(t, r, 32)
		all.Go(func() { hammer(t, p, requests, rounds, uint64(n)) })
	}
	all.Wait()
	require.EqualValues(t, len(classes)*rounds, b.counts.Evaluations.Load())
	require.Zero(t, b.counts.Failed.Load())
}

// hammer keeps requests in flight and counts answers.
func hammer(t *testing.T, p *peer, requests []uint32, rounds int, seed uint64) {
	dice := rand.New(rand.NewPCG(seed, 1))
	classes := []uint32{0, 33, 25, 21, 17, 9}
	free, asked, answered := requests, 0, 0
	out := map[uint64]uint32{}
	for answered < rounds {
		for len(free) > 0 && asked < rounds && dice.IntN(4) != 0 {
			r := free[len(free)-1]
			free = free[:len(free)-1]
			asked++
			id, err := p.post(wire.KindEvaluate,
				&wire.Evaluate{Request: r, QoS: classes[dice.IntN(len(classes))], Sequence: uint64(asked)})
			if err != nil {
				t.Error(err)
				return
			}
			out[id] = r
		}
		if len(out) == 0 {
			continue
		}
		f, _, err := p.conn.Receive(p.buf)
		if err != nil {
			t.Error(err)
			return
		}
		r, ok := out[f.ID]
		if !ok || f.Kind != wire.KindEvaluate|wire.Reply {
			t.Errorf("%v to %d, which was not asked", f.Kind, f.ID)
			return
		}
		delete(out, f.ID)
		free = append(free, r)
		answered++
	}
}

// TestStoppedRunSaysNothing: that one run of a program was stopped at once does not make
// the next one a short one, which no cancel could stop.
func TestStoppedRunSaysNothing(t *testing.T) {
	b := startBroker(t, Config{Engine: doors(nil)})
	p, bell := b.belled(alice)
	r, err := p.ready(model(t, "identity"), 21)
	require.NoError(t, err)
	for i := range uint64(5) {
		err := p.ask(wire.KindEvaluate, &wire.Evaluate{Request: r.request, Sequence: i, Deadline: 1}, &wire.Done{})
		require.ErrorIs(t, err, ane.ErrDeadline)
	}
	done := make(chan error, 1)
	go func() { done <- ring(t, bell, &wire.Evaluate{Request: r.request, Sequence: 9}) }()
	eventually(t, "it runs", func() bool { return b.driver.Stats().Running == 1 })
	require.NoError(t, p.conn.SetPatience(await.Patience, await.Patience))
	require.NoError(t, p.ask(wire.KindCancel, &wire.Cancel{Sequence: 9}, &wire.Cancelled{}))
	require.ErrorIs(t, <-done, ane.ErrDeadline)
}

// TestEngineComesBackLate: a run that ignores its context ends when its client, and
// the patience with the engine, have gone.
func TestEngineComesBackLate(t *testing.T) {
	back := make(chan struct{})
	s, err := newServer(Config{end: 20 * time.Millisecond, Engine: func() ane.Engine {
		return slow{soft.New(), func(context.Context) error { <-back; return nil }}
	}}.settled(admission.OwnerPolicy()))
	require.NoError(t, err)
	here, there := wiretest.Pair(t)
	ended := make(chan error, 1)
	go func() { ended <- newSession(s, there, alice, admission.Process{}).run() }()
	p := newPeer(here)
	defer p.close()
	require.NoError(t, p.greet(""))
	r, err := p.ready(model(t, "identity"), 21)
	require.NoError(t, err)
	_, err = p.post(wire.KindEvaluate, &wire.Evaluate{Request: r.request, Sequence: 1})
	require.NoError(t, err)
	eventually(t, "it runs", func() bool { return s.driver.Stats().Running == 1 })
	p.close()
	require.ErrorIs(t, <-ended, ane.ErrDeadline)
	close(back)
	eventually(t, "the run has ended", func() bool { return s.driver.Stats().Clients == 0 })
	require.NoError(t, s.close())
	require.Zero(t, s.live.Count())
	require.Zero(t, s.driver.Stats().Resources)
	require.NoError(t, s.failure())
}
