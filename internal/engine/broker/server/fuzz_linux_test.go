//go:build !macrules

package server

import (
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// storm sends frames of a client that has lost its mind, and reads what it is told.
func storm(t *testing.T, p *peer, r *run, dice *rand.Rand, frames int) {
	var reading sync.WaitGroup
	reading.Go(func() {
		buf := make([]byte, wire.MaxFrame)
		for {
			_, fds, err := p.conn.Receive(buf)
			fds.Close()
			if errors.Is(err, wire.ErrClosed) {
				return
			}
		}
	})
	null, err := os.Open("/dev/null")
	if err != nil {
		t.Error(err)
		return
	}
	defer null.Close()
	small := func() uint32 { return uint32(dice.IntN(6)) }
	for range frames {
		payloads := []wire.Payload{
			&wire.Evaluate{Request: r.request + small() - 3, QoS: small() * 9, Sequence: uint64(small()),
				Deadline: uint64(dice.IntN(1000))},
			&wire.Cancel{Sequence: uint64(small())}, &wire.Bind{Program: small(), In: r.ports[0], Out: r.ports[1]},
			&wire.Unbind{Request: r.request + small() - 3}, &wire.Load{Program: small(), QoS: small() * 7},
			&wire.Unload{Program: small()}, &wire.Release{Program: small()}, &wire.Drop{Token: small()}, &wire.Empty{},
			&wire.Compile{TextSize: uint64(small()), File: "x"}, &wire.Instance{Program: small()}, &wire.Purge{},
			&wire.Surface{Size: uint64(small()),
				Token: small()}, &wire.Hello{Version: wire.Version},
		}
		body := wire.Append(nil, payloads[dice.IntN(len(payloads))])
		if len(body) > 0 && dice.IntN(4) == 0 {
			body[dice.IntN(len(body))] ^= 1 << dice.IntN(8)
		}
		frame := wire.Frame{Kind: wire.Kind(1 + dice.IntN(17)), ID: dice.Uint64N(8), Payload: body}.Append(nil)
		if dice.IntN(8) == 0 {
			frame[dice.IntN(len(frame))] ^= 1 << dice.IntN(8)
		}
		if dice.IntN(16) == 0 {
			frame = frame[:dice.IntN(len(frame))]
		}
		var rights []byte
		if n := dice.IntN(20) - 12; n > 0 {
			fds := make([]int, n)
			for i := range fds {
				fds[i] = int(null.Fd())
			}
			rights = unix.UnixRights(fds...)
		}
		if len(frame) == 0 {
			continue // an empty packet is the end of the connection, for its reader
		}
		err := p.conn.Control(func(fd int) error { return unix.Sendmsg(fd, frame, rights, nil, unix.MSG_NOSIGNAL) })
		if err != nil {
			break // cut off, which is its right
		}
	}
	_ = p.conn.Close()
	reading.Wait()
}

// TestRandomFrames sends random frames to a broker that serves another client at the same time.
func TestRandomFrames(t *testing.T) {
	b := startBroker(t, Config{CacheDir: t.TempDir()})
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	sane := b.join(mary, "")
	mine, err := sane.ready(model(t, "add"), 21)
	require.NoError(t, err)
	before := len(files())
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			dice := rand.New(rand.NewPCG(seed, uint64(n)))
			for range effort.Rounds(10, 2) {
				p := b.raw(alice)
				if err := p.greet(""); err != nil {
					t.Error(err)
					return
				}
				r, err := p.ready(model(t, "identity"), 21)
				if err != nil {
					t.Error(err)
					return
				}
				storm(t, p, r, dice, 500)
				p.close()
			}
		})
	}
	for range effort.Rounds(2000, 500) {
		require.NoError(t, sane.evaluate(mine, 0))
	}
	all.Wait()
	eventually(t, "all is given back", func() bool { return b.active.Load() == 1 && len(files()) <= before })
	require.NoError(t, sane.evaluate(mine, 0))
}

// FuzzFrames sends any bytes to a client's session.
func FuzzFrames(f *testing.F) {
	for _, p := range []wire.Payload{&wire.Evaluate{Request: 1, Sequence: 1},
		&wire.Bind{Program: 1, In: []wire.Port{{Surface: 1}}, Out: []wire.Port{{Surface: 2}}}, &wire.Load{Program: 1}} {
		for k := wire.KindHello; k < wire.KindFault; k++ {
			f.Add(wire.Frame{Kind: k, ID: 3, Payload: wire.Append(nil, p)}.Append(nil))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 || len(b) > wire.MaxFrame {
			return
		}
		broker := startBroker(t, Config{})
		p := broker.join(alice, "")
		_, err := p.ready(model(t, "identity"), 21)
		require.NoError(t, err)
		require.NoError(t, p.conn.Control(func(fd int) error {
			return unix.Sendmsg(fd, b, nil, nil,
				unix.MSG_NOSIGNAL)
		}))
		_, fds, _ := p.conn.Receive(p.buf) // an answer, or the end
		fds.Close()
		require.NoError(t, broker.join(mary, "").ask(wire.KindPing, &wire.Empty{}, &wire.Empty{}))
	})
}
