//go:build !macrules

package server

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/soft"
)

// reached rings for a request that there is not: the answer needs no engine.
func reached(t *testing.T, bells ...*wire.Bell) {
	t.Helper()
	for i := range uint64(20) {
		for _, one := range bells {
			require.ErrorIs(t, ring(t, one, &wire.Evaluate{Request: 77, Sequence: 1000 + i}), ane.ErrForeign)
		}
	}
}

// rings rings in a goroutine of its own.
func rings(t *testing.T, b *wire.Bell, q *wire.Evaluate) <-chan error {
	done := make(chan error, 1)
	go func() { done <- ring(t, b, q) }()
	return done
}

// One goroutine answers the bells in turn, and another one goes on when a short program turns out to be a long one.
func TestOneLongRunDoesNotHoldBellsUp(t *testing.T) {
	var long atomic.Bool
	open := make(chan struct{})
	b := startBroker(t, Config{Engine: func() ane.Engine {
		return slow{soft.New(), func(context.Context) error {
			if long.Load() {
				<-open
			}
			return nil
		}}
	}})
	p, bell := b.belled(alice)
	r, err := p.ready(model(t, "identity"), 21)
	require.NoError(t, err)
	_, second := b.belled(mary)
	_, third := b.belled(alice)
	for i := range uint64(50) { // the leader makes short runs itself
		require.NoError(t, ring(t, bell, &wire.Evaluate{Request: r.request, Sequence: i}))
	}
	long.Store(true)
	done := rings(t, bell, &wire.Evaluate{Request: r.request, Sequence: 99})
	eventually(t, "it runs", func() bool { return b.driver.Stats().Running == 1 })
	reached(t, second, third)
	long.Store(false)
	close(open)
	require.NoError(t, <-done)
	reached(t, second, third)
	require.NoError(t, ring(t, bell, &wire.Evaluate{Request: r.request, Sequence: 100}))
}

// While a frame has the turn of one client, the leader answers the others.
func TestTurnsDoNotHoldBellsUp(t *testing.T) {
	b := startBroker(t, Config{})
	p, bell := b.belled(alice)
	r, err := p.ready(model(t, "identity"), 21)
	require.NoError(t, err)
	b.mu.Lock()
	require.Len(t, b.sessions, 1)
	var first *session
	for first = range b.sessions {
	}
	b.mu.Unlock()
	_, second := b.belled(mary)
	_, third := b.belled(alice)
	for i := range uint64(10) {
		first.turn.Lock()
		done := rings(t, bell, &wire.Evaluate{Request: r.request, Sequence: i})
		reached(t, second, third)
		first.turn.Unlock()
		require.NoError(t, <-done)
	}
}

// The goroutine that answers ends with the last bell, and begins with the next.
func TestRingersComeAndGo(t *testing.T) {
	b := startBroker(t, Config{})
	for range 5 {
		p, bell := b.belled(alice)
		q, other := b.belled(mary)
		reached(t, bell, other)
		p.close()
		reached(t, other)
		q.close()
		eventually(t, "nobody answers bells", func() bool {
			b.ringers.mu.Lock()
			defer b.ringers.mu.Unlock()
			return !b.ringers.leads && len(b.ringers.all) == 0
		})
	}
}

// A private broker has a goroutine for its one bell.
func TestBellOfOneClient(t *testing.T) {
	b := startBroker(t, Config{clients: 1})
	_, bell := b.belled(alice)
	reached(t, bell)
	require.Empty(t, b.ringers.all)
}
