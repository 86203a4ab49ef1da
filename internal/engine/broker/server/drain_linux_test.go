//go:build !macrules

package server

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/broker/server/shared"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
	"github.com/anekit/anekit/internal/engine/soft"
)

// draining is a broker that was told to end while runs are in flight.
type draining struct {
	open  chan struct{} // the engine's door
	hurry chan struct{}
	done  chan error
	path  string
	busy  *peer
	runs  []uint64 // frames in flight of busy
	last  *run
	idle  *peer
	early *peer // has not said hello
}

// drain starts a broker and tells it to end while it has runs in flight, one in the engine and the others in line.
func drain(t *testing.T, limit time.Duration) *draining {
	t.Helper()
	d := &draining{open: make(chan struct{}), hurry: make(chan struct{}), done: make(chan error, 1), path: socket(t)}
	l, err := shared.Listen(d.path)
	require.NoError(t, err)
	ctx, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	go func() {
		d.done <- Serve(ctx, l, patient(Config{Engine: doors(d.open), Stay: true, Drain: limit, Hurry: d.hurry}))
	}()
	d.busy, d.idle = dial(t, d.path), dial(t, d.path)
	for i := range 3 {
		r, err := d.busy.ready(model(t, "identity"), 21)
		require.NoError(t, err)
		d.last = r
		id, err := d.busy.post(wire.KindEvaluate, &wire.Evaluate{Request: r.request, Sequence: uint64(i + 1)})
		require.NoError(t, err)
		d.runs = append(d.runs, id)
	}
	require.NoError(t, d.busy.ask(wire.KindPing, &wire.Empty{}, &wire.Empty{}), "the runs have been read")
	d.early = greetLater(t, d.path)
	end()
	await.Until(t, "no connection is taken", func() bool {
		_, err := os.Lstat(d.path)
		return os.IsNotExist(err)
	})
	return d
}

// greetLater connects without a hello.
func greetLater(t *testing.T, path string) *peer {
	t.Helper()
	conn, err := wiretest.Dial(path)
	require.NoError(t, err)
	p := newPeer(conn)
	t.Cleanup(p.close)
	require.NoError(t, p.ask(wire.KindStats, &wire.Empty{}, &wire.Stats{}), "it was accepted")
	return p
}

// TestDrain: a broker that ends answers what is in flight and refuses what begins, with the reason, and a client may
// undo and ask meanwhile.
func TestDrain(t *testing.T) {
	d := drain(t, await.Patience)
	_, err := wiretest.Dial(d.path)
	require.Error(t, err, "a new connection")
	ending := func(err error, what string) {
		t.Helper()
		var e *ane.Error
		require.ErrorAs(t, err, &e, what)
		require.ErrorIs(t, err, ane.ErrClosed, what)
		require.Equal(t, "the broker is ending", e.Detail, what)
		require.NotEmpty(t, e.Hint, what)
	}
	eventually(t, "calls are refused", func() bool {
		_, _, err := d.idle.surface(1)
		return err != nil
	})
	for range 2 * MaxTroubles { // a refusal is no trouble
		_, _, err = d.idle.surface(1)
		ending(err, "surface")
	}
	_, err = d.idle.compile(model(t, "add"))
	ending(err, "compile")
	ending(d.busy.evaluate(d.last, 0), "evaluate")
	ending(d.early.greet(""), "hello")
	require.NoError(t, d.idle.ask(wire.KindPing, &wire.Empty{}, &wire.Empty{}))
	require.NoError(t, d.early.ask(wire.KindStats, &wire.Empty{}, &wire.Stats{}))
	const none = 1 << 31 // no surface has it; the first calls above may have made some
	require.ErrorIs(t, d.idle.ask(wire.KindDrop, &wire.Drop{Token: none}, &wire.Empty{}), ane.ErrForeign,
		"it is looked for")
	select {
	case err := <-d.done:
		t.Fatal("it has ended with calls in flight: ", err)
	default:
	}
	close(d.open)
	require.NoError(t, await.Value(t, d.done))
	for _, id := range d.runs {
		require.NoError(t, d.busy.read(id, &wire.Done{}))
	}
	gone(t, d.idle)
}

// TestDrainIsCut: what is in flight after the time for it, or at a second signal, is cut, and the error says so.
func TestDrainIsCut(t *testing.T) {
	for what, hurry := range map[string]bool{"its time is over": false, "a second signal": true} {
		limit := await.Patience
		if !hurry {
			limit = time.Millisecond
		}
		d := drain(t, limit)
		if hurry {
			close(d.hurry)
		}
		err := await.Value(t, d.done)
		require.ErrorIs(t, err, ErrCut, what)
		var e *ane.Error
		require.ErrorAs(t, err, &e, what)
		require.Regexp(t, "^[3-6] in flight", e.Detail, what) // the readers of all three may still leave an answer
		require.NotEmpty(t, e.Hint, what)
		gone(t, d.busy)
	}
}

// TestDrainWaitsForCompiles: a compile in flight is answered.
func TestDrainWaitsForCompiles(t *testing.T) {
	path := socket(t)
	l, err := shared.Listen(path)
	require.NoError(t, err)
	ctx, end := context.WithCancel(context.Background())
	defer end()
	started, open := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- Serve(ctx, l, patient(Config{Stay: true, Drain: await.Patience, Engine: func() ane.Engine {
			return doorway{soft.New(), started, open}
		}}))
	}()
	p := dial(t, path)
	compiled := make(chan error, 1)
	go func() {
		_, err := p.compile(model(t, "add"))
		compiled <- err
	}()
	<-started
	end()
	await.Until(t, "no connection is taken", func() bool {
		_, err := os.Lstat(path)
		return os.IsNotExist(err)
	})
	select {
	case err := <-done:
		t.Fatal("it has ended with a compile in flight: ", err)
	default:
	}
	close(open)
	require.NoError(t, await.Value(t, compiled))
	require.NoError(t, await.Value(t, done))
}

// doorway is an engine whose compiles wait until the test opens the door.
type doorway struct {
	ane.Engine
	started chan<- struct{}
	open    <-chan struct{}
}

func (w doorway) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	w.started <- struct{}{}
	<-w.open
	return w.Engine.Compile(ctx, src)
}
