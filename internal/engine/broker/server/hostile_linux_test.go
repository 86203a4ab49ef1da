//go:build !macrules

package server

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// hostile is a client that has the memory of its bell to itself. The broker's box is the
// second half: a count, on which the broker sleeps, a length, the count that was taken
// last, and the frame 64 bytes later.
type hostile struct {
	*peer
	bell *wire.Bell
	mem  []byte
	box  []byte
}

func (b *broker) hostile() *hostile {
	b.t.Helper()
	bell, memory, err := wire.NewBell()
	require.NoError(b.t, err)
	info, err := memory.Stat()
	require.NoError(b.t, err)
	mem, err := unix.Mmap(int(memory.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	require.NoError(b.t, err)
	h := &hostile{peer: b.raw(alice), bell: bell, mem: mem, box: mem[len(mem)/2:]}
	require.NoError(b.t, h.ask(wire.KindHello, &wire.Hello{Version: wire.Version}, &h.hello, int(memory.Fd())))
	require.NoError(b.t, memory.Close())
	b.t.Cleanup(func() {
		require.NoError(b.t, bell.Close())
		require.NoError(b.t, unix.Munmap(mem))
	})
	return h
}

// drain reads what the socket brings until it ends: frames of a bell that have no number
// are answered there.
func (h *hostile) drain(all *sync.WaitGroup) {
	all.Go(func() {
		buf := make([]byte, wire.MaxFrame)
		for {
			_, fds, err := h.conn.Receive(buf)
			fds.Close()
			if err != nil {
				return
			}
		}
	})
}

// scribble writes whatever it likes wherever it likes, for some time, and rings.
func (h *hostile) scribble(dice *rand.Rand, request uint32, rounds int) {
	kinds := []wire.Kind{wire.KindEvaluate, wire.KindPing, wire.KindStats, wire.KindCancel, wire.KindCompile,
		wire.KindSurface, wire.KindUnbind, wire.KindHello}
	noise := make([]byte, len(h.mem)+1000)
	for i := range noise {
		noise[i] = byte(dice.Uint32())
	}
	for range rounds {
		q := wire.Evaluate{Request: request, Sequence: dice.Uint64N(4)}
		_ = h.bell.Send(wire.Frame{Kind: kinds[dice.IntN(len(kinds))], ID: wire.BellID | dice.Uint64N(4),
			Payload: wire.Append(nil, &q)})
		switch dice.IntN(6) {
		case 0:
			binary.LittleEndian.PutUint32(h.box[4:], dice.Uint32()) // length
		case 1:
			binary.LittleEndian.PutUint32(h.box[8:], dice.Uint32()) // taken
		case 2:
			binary.LittleEndian.PutUint32(h.box, dice.Uint32()) // count
		case 3:
			h.box[64+dice.IntN(80)] ^= byte(dice.Uint32())
		case 4:
			copy(h.mem, noise[dice.IntN(1000):])
		}
	}
}

// TestScribbles: clients that write what they like into their bells, while it is read too,
// and wait for no answer. The broker serves another client meanwhile and gives all back.
func TestScribbles(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	b := startBroker(t, Config{})
	sane, bell := b.belled(mary)
	mine, err := sane.ready(model(t, "add"), 21)
	require.NoError(t, err)
	before := len(files())
	var all sync.WaitGroup
	for n := range uint64(3) {
		all.Go(func() {
			for round := range uint64(effort.Rounds(5, 1)) {
				h := b.hostile()
				r, err := h.ready(model(t, "identity"), 21)
				if err != nil {
					t.Error(err)
					return
				}
				var reading sync.WaitGroup
				h.drain(&reading)
				h.scribble(rand.New(rand.NewPCG(seed+n, round)), r.request, 1000)
				h.close()
				reading.Wait()
			}
		})
	}
	for i := range uint64(effort.Rounds(2000, 500)) {
		require.NoError(t, ring(t, bell, &wire.Evaluate{Request: mine.request, Sequence: 2 * i}))
		require.NoError(t, sane.ask(wire.KindEvaluate, &wire.Evaluate{Request: mine.request, Sequence: 2*i + 1},
			&wire.Done{}))
	}
	all.Wait()
	eventually(t, "all is given back", func() bool { return b.active.Load() == 1 && len(files()) <= before })
	require.NoError(t, ring(t, bell, &wire.Evaluate{Request: mine.request, Sequence: 9999}))
}

// TestStolenWakeUp: a client that takes the broker's thread away from its bell keeps it
// no longer than it sleeps anyway.
func TestStolenWakeUp(t *testing.T) {
	b := startBroker(t, Config{})
	h := b.hostile()
	_, err := h.ready(model(t, "identity"), 21)
	require.NoError(t, err)
	eventually(t, "the broker sleeps", func() bool { return requeue(h.mem, len(h.mem)/2, len(h.mem)/2+16) == 1 })
	h.close()
	eventually(t, "it is gone", func() bool { return b.driver.Stats().Clients == 0 && b.active.Load() == 0 })
}

// TestRingsWithoutWaiting: a client that rings again before the answer came loses answers, nothing
// else.
func TestRingsWithoutWaiting(t *testing.T) {
	b := startBroker(t, Config{})
	p, bell := b.belled(alice)
	r, err := p.ready(model(t, "identity"), 21)
	require.NoError(t, err)
	requests := p.many(t, r, 32)
	for i := range uint64(MaxTroubles - 100) {
		q := wire.Evaluate{Request: requests[i%32], Sequence: i}
		require.NoError(t, bell.Send(wire.Frame{Kind: wire.KindEvaluate, ID: wire.BellID | i, Payload: wire.Append(nil, &q)}))
	}
	buf := make([]byte, wire.MaxFrame)
	const patience = 5 * time.Second    // for an answer that may have been lost
	for again := uint64(1); ; again++ { // answers to those before may come in between still
		require.Less(t, again, uint64(100), "no answer comes")
		q := wire.Evaluate{Request: r.request, Sequence: again << 32}
		require.NoError(t, bell.Send(wire.Frame{Kind: wire.KindEvaluate, ID: wire.BellID | q.Sequence,
			Payload: wire.Append(nil, &q)}))
		f, err := bell.Receive(buf, patience)
		for err == nil && f.ID != wire.BellID|q.Sequence {
			f, err = bell.Receive(buf, patience)
		}
		if err == nil && f.Kind == wire.KindEvaluate|wire.Reply {
			break
		}
	}
	eventually(t, "none is left", func() bool { s := b.driver.Stats(); return s.Queued+s.Running == 0 })
	require.Zero(t, b.counts.Failed.Load())
	require.NoError(t, p.ask(wire.KindEvaluate, &wire.Evaluate{Request: r.request, Sequence: 1}, &wire.Done{}))
}
