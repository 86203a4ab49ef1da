package broker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// doorbell is the bell of a connection, through which one evaluation at a time goes to
// the broker; others take the socket meanwhile. The zero doorbell is never free.
type doorbell struct {
	*wire.Bell
	taken  sync.Mutex // held until the answer to what is in flight has come
	serial uint64     // of the last frame; the holder of taken has it, as buf
	buf    []byte
	orphan *call // given up, and not answered yet; the transport's mu guards it
	unseen bool  // the broker ended before it took what was in flight; mu guards it
}

// longest is the longest sleep of a caller at the bell. After each sleep the caller polls
// the socket and its context.
const longest = 8 * time.Millisecond

// install makes b the bell of the connection, or drops it when the broker does not
// answer it.
func (t *transport) install(b *wire.Bell, answered bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !answered || t.lost != nil {
		_ = b.Close() // never fails
		return
	}
	t.bell.Bell, t.bell.buf = b, make([]byte, wire.MaxFrame)
}

// take takes the bell, if it is free.
func (b *doorbell) take() bool { return b.Bell != nil && b.taken.TryLock() }

// ring is exchange through the bell, which the caller has taken.
func (t *transport) ring(ctx context.Context, c *call, k wire.Kind, payload []byte) error {
	b := &t.bell
	b.serial++
	c.id, c.err, c.late, c.rung = wire.BellID|b.serial&^wire.BellID, nil, nil, true
	over := t.over.Load() // or a broker that was given up would be asked
	var err error
	if !over {
		err = b.Send(wire.Frame{Kind: k, ID: c.id, Payload: payload})
	}
	if !over && err == nil {
		return t.listen(ctx, c)
	}
	b.taken.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost != nil {
		return t.missed()
	}
	return err
}

// listen waits at the bell for the answer to c: a waiting caller polls the socket every 1
// to 8 ms. When ctx ends first, the error is wire.InFlight, and the bell is taken still,
// unless the broker had not seen the call.
func (t *transport) listen(ctx context.Context, c *call) error {
	last := false
	for wait := slice; ; wait = min(2*wait, longest) {
		f, err := t.bell.Receive(t.bell.buf, wait)
		switch {
		case err == nil && f.ID == c.id:
			c.kind, c.body = f.Kind, append(c.body[:0], f.Payload...)
			t.bell.taken.Unlock()
			return nil
		case err == nil:
			t.close(errStray(f.Kind), 0)
		case !errors.Is(err, wire.ErrTimeout) && !errors.Is(err, wire.ErrClosed):
			t.close(err, 0)
		case last:
			t.close(errGone, 0)
		case !t.over.Load() && hungUp(t.fd):
			last, wait = true, 0 // what it answered before is there now
			continue
		}
		if t.over.Load() {
			return t.verdict()
		}
		if ctx.Err() != nil {
			if t.bell.Retract() {
				t.bell.taken.Unlock()
				return context.Cause(ctx)
			}
			return inFlight(context.Cause(ctx))
		}
	}
}

// verdict is the error of the call that was in flight when the connection ended, whose
// caller has taken the bell, and gives it back. close may run still: what it finds out is
// about this call because no other caller can ring before.
func (t *transport) verdict() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.bell.taken.Unlock()
	if t.bell.unseen {
		return t.missed()
	}
	return t.lost
}

// errGone is the cause of an end that a caller at the bell found out.
var errGone = errors.New("the broker's process has ended")

// orphanRung is orphan for a call that went through the bell. The caller holds mu.
func (t *transport) orphanRung(c *call, late func(*call)) bool {
	if t.lost != nil {
		c.err = t.lost
		c.done <- struct{}{}
		t.bell.taken.Unlock()
		return false
	}
	c.late = late
	t.bell.orphan = c
	go t.attend(c)
	return true
}

// attend waits for the answer to an orphaned call. If the broker ends first, bury does
// the rest.
func (t *transport) attend(c *call) {
	_ = t.listen(context.Background(), c) // the check below covers a broker that was lost
	t.mu.Lock()
	mine := t.bell.orphan == c
	if mine {
		t.bell.orphan = nil
	}
	t.mu.Unlock()
	if mine {
		c.late(c)
	}
}
