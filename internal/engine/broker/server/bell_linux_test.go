//go:build !macrules

package server

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// belled connects a client that has a bell.
func (b *broker) belled(id admission.Identity) (*peer, *wire.Bell) {
	b.t.Helper()
	bell, memory, err := wire.NewBell()
	require.NoError(b.t, err)
	p := b.raw(id)
	require.NoError(b.t, p.ask(wire.KindHello, &wire.Hello{Version: wire.Version}, &p.hello, int(memory.Fd())))
	require.True(b.t, p.hello.Bell)
	require.NoError(b.t, memory.Close())
	b.t.Cleanup(func() { require.NoError(b.t, bell.Close()) })
	return p, bell
}

// hear waits for the answer that comes by a bell.
func hear(t *testing.T, b *wire.Bell) wire.Frame {
	t.Helper()
	buf := make([]byte, wire.MaxFrame)
	for end := time.Now().Add(await.Patience); ; {
		f, err := b.Receive(buf, time.Second)
		if err == nil {
			return f
		}
		require.ErrorIs(t, err, wire.ErrTimeout)
		require.True(t, time.Now().Before(end), "no answer")
	}
}

// ring evaluates by the bell.
func ring(t *testing.T, b *wire.Bell, q *wire.Evaluate) error {
	t.Helper()
	require.NoError(t, b.Send(wire.Frame{Kind: wire.KindEvaluate, ID: wire.BellID | q.Sequence,
		Payload: wire.Append(nil, q)}))
	f := hear(t, b)
	require.Equal(t, wire.BellID|q.Sequence, f.ID)
	if f.Kind == wire.KindFault {
		var fault wire.Fault
		require.NoError(t, wire.Parse(f.Payload, &fault))
		return fault.Err()
	}
	require.Equal(t, wire.KindEvaluate|wire.Reply, f.Kind)
	var d wire.Done
	require.NoError(t, wire.Parse(f.Payload, &d))
	require.Equal(t, q.Sequence, d.Sequence)
	return nil
}

// Evaluations go by both, and the answer comes by what the question came by.
func TestBell(t *testing.T) {
	b := startBroker(t, Config{})
	p, bell := b.belled(alice)
	r, err := p.ready(model(t, "identity"), 21)
	require.NoError(t, err)
	for i := range uint64(100) {
		require.NoError(t, ring(t, bell, &wire.Evaluate{Request: r.request, Sequence: 2 * i}))
		require.NoError(t, p.ask(wire.KindEvaluate, &wire.Evaluate{Request: r.request, Sequence: 2*i + 1},
			&wire.Done{}))
	}
	require.EqualValues(t, 200, b.counts.Evaluations.Load())
	require.ErrorIs(t, ring(t, bell, &wire.Evaluate{Request: 77, Sequence: 500}), ane.ErrForeign)
	require.EqualValues(t, p.conn.Traffic().FramesOut+bell.Traffic().FramesOut+1, p.counter(t, "own frames received"))
	_, other := b.belled(mary)
	require.ErrorIs(t, ring(t, other, &wire.Evaluate{Request: r.request, Sequence: 1}), ane.ErrForeign,
		"another client's request")
	_, other = b.belled(alice)
	require.ErrorIs(t, ring(t, other, &wire.Evaluate{Request: r.request, Sequence: 1}), ane.ErrForeign,
		"of another connection")
}

// What was asked by the bell is cancelled over the socket, and answered by the bell.
func TestBellCancel(t *testing.T) {
	open := make(chan struct{})
	defer close(open)
	b := startBroker(t, Config{Engine: doors(open)})
	p, bell := b.belled(alice)
	r, err := p.ready(model(t, "identity"), 21)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- ring(t, bell, &wire.Evaluate{Request: r.request, Sequence: 9}) }()
	eventually(t, "it runs", func() bool { return b.driver.Stats().Running == 1 })
	var c wire.Cancelled
	require.NoError(t, p.ask(wire.KindCancel, &wire.Cancel{Sequence: 9}, &c))
	require.Equal(t, wire.CancelRunning, c.State)
	require.ErrorIs(t, <-done, ane.ErrDeadline)
}

// A client that goes while its evaluation through the bell runs leaves nothing.
func TestBellClientGoes(t *testing.T) {
	open := make(chan struct{})
	defer close(open)
	b := startBroker(t, Config{Engine: doors(open)})
	p, bell := b.belled(alice)
	r, err := p.ready(model(t, "identity"), 21)
	require.NoError(t, err)
	q := wire.Evaluate{Request: r.request, Sequence: 9}
	require.NoError(t, bell.Send(wire.Frame{Kind: wire.KindEvaluate, ID: wire.BellID, Payload: wire.Append(nil, &q)}))
	eventually(t, "it runs", func() bool { return b.driver.Stats().Running == 1 })
	p.close()
	eventually(t, "the client is gone", func() bool { return b.driver.Stats().Clients == 0 })
}

// A client that sends nothing but refused frames is cut off, through the bell as over the socket.
func TestBellOfRefusedFrames(t *testing.T) {
	b := startBroker(t, Config{})
	p, bell := b.belled(alice)
	for i := range MaxTroubles {
		require.NoError(t, bell.Send(wire.Frame{Kind: wire.KindEvaluate, ID: wire.BellID | uint64(i),
			Payload: []byte{1, 2, 3}}))
		require.Equal(t, wire.KindFault, hear(t, bell).Kind)
	}
	gone(t, p)
	p, bell = b.belled(alice)
	for i := range MaxTroubles { // what is answered over the socket
		require.NoError(t, bell.Send(wire.Frame{Kind: wire.KindPing, ID: wire.BellID | uint64(i)}))
		require.Equal(t, wire.KindFault, hear(t, bell).Kind)
	}
	gone(t, p)
	q, bell := b.belled(alice)
	for range 2 { // a second Hello, and one by the bell
		require.Error(t, q.ask(wire.KindHello, &wire.Hello{Version: wire.Version}, &q.hello))
	}
	hello := wire.Hello{Version: wire.Version}
	require.NoError(t, bell.Send(wire.Frame{Kind: wire.KindHello, ID: wire.BellID, Payload: wire.Append(nil, &hello)}))
	require.Equal(t, wire.KindFault, hear(t, bell).Kind)
	require.NoError(t, q.ask(wire.KindPing, &wire.Empty{}, &wire.Empty{}))
}

// What comes beside Hello has to be a bell.
func TestNoBell(t *testing.T) {
	b := startBroker(t, Config{})
	file, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer file.Close()
	bell, memory, err := wire.NewBell()
	require.NoError(t, err)
	defer memory.Close()
	defer bell.Close()
	sealed, err := wire.Seal("x", []byte("no bell"))
	require.NoError(t, err)
	defer sealed.Close()
	for name, fds := range map[string][]int{
		"a file": {int(file.Fd())}, "frozen": {int(sealed.Fd())}, "two": {int(memory.Fd()), int(memory.Fd())},
	} {
		p := b.raw(alice)
		err := p.ask(wire.KindHello, &wire.Hello{Version: wire.Version}, &p.hello, fds...)
		require.Error(t, err, name)
		require.False(t, errors.Is(err, wire.ErrClosed), "%s: told why: %v", name, err)
		gone(t, p)
	}
	p := b.join(alice, "")
	require.False(t, p.hello.Bell)
	// Without a bell, its bit in an ID means nothing.
	require.NoError(t, p.conn.Send(wire.Frame{Kind: wire.KindPing, ID: wire.BellID | 3}))
	require.NoError(t, p.read(wire.BellID|3, &wire.Empty{}))
}
