package broker

import (
	"context"
	"errors"
	"time"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// slice is how long a call of the socket waits before its caller checks its context, or
// hands the wait for an answer to run: much longer than a short evaluation, short for a
// caller that waits for a cancelled call.
const slice = time.Millisecond

// errStray is the cause of an end by an answer to no question.
func errStray(k wire.Kind) error {
	return errors.New("the broker answers a request that was not made: " + k.String())
}

// lead reads until c is answered, and reports that it is, or that its answer takes long.
func (t *transport) lead(ctx context.Context, c *call) bool {
	defer t.passOn()
	for {
		id, ok := t.receive(c)
		if ok && id == c.id {
			return true
		}
		if !ok || len(c.done) > 0 || ctx.Err() != nil {
			return false
		}
	}
}

// passOn gives up reading: to run while answers are missing.
func (t *transport) passOn() {
	for {
		if t.unanswered.Load() > 0 {
			t.wake <- struct{}{} // one place, and only the reader sends
			return
		}
		t.reading.Unlock()
		// Another caller may have sent since and found reading taken.
		if t.unanswered.Load() == 0 || !t.reading.TryLock() {
			return
		}
	}
}

// run reads what no caller does, and buries the connection.
func (t *transport) run() {
	for {
		select {
		case <-t.wake:
			for t.unanswered.Load() > 0 && !t.over.Load() {
				waitReadable(t.fd) // instead of a call every slice
				t.receive(nil)
			}
			if t.over.Load() {
				t.reading.Unlock()
			} else {
				t.passOn()
			}
		case <-t.dead:
			t.bury()
			return
		}
	}
}

// receive reads one frame and hands it to its call, unless that is own, whose caller
// reads. It returns the frame's id; false when none came in time, or the connection is
// over. A frame that cannot be parsed ends the connection: its call would wait forever.
func (t *transport) receive(own *call) (uint64, bool) {
	f, fds, err := t.conn.Receive(t.buf)
	if err != nil {
		if !errors.Is(err, wire.ErrTimeout) {
			t.close(err, 0)
		}
		return 0, false
	}
	fds.Close() // no answer has any
	t.unanswered.Add(-1)
	t.full.Store(false)
	if t.posted.Load() > 0 {
		t.flush()
	}
	if f.ID == 0 {
		return 0, true
	}
	t.mu.Lock()
	c := t.delist(f.ID)
	if c == nil {
		t.mu.Unlock()
		t.close(errStray(f.Kind), 0)
		return 0, false
	}
	c.kind, c.body = f.Kind, append(c.body[:0], f.Payload...)
	late := c.late
	t.mu.Unlock()
	switch {
	case late != nil:
		late(c)
	case c != own:
		c.done <- struct{}{}
	}
	return f.ID, true
}

// send sends a frame, or nothing. It waits for room in the socket until ctx ends.
func (t *transport) send(ctx context.Context, f wire.Frame, fds ...int) error {
	for {
		err := t.put(f, fds...)
		if !errors.Is(err, wire.ErrTimeout) {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// put sends a frame; wire.ErrTimeout when there was no room for it.
func (t *transport) put(f wire.Frame, fds ...int) error {
	t.unanswered.Add(1) // before the answer can come
	err := t.conn.Send(f, fds...)
	if err == nil {
		return nil
	}
	t.unanswered.Add(-1)
	switch {
	case errors.Is(err, wire.ErrTimeout):
		t.full.Store(true)
	case errors.Is(err, wire.ErrClosed):
		t.close(err, 0)
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.missed()
	}
	return err
}

// post sends a frame whose answer does not matter, now or when there is room. It waits
// no longer than a slice, and not at all while a slice was not enough.
func (t *transport) post(k wire.Kind, p wire.Payload) {
	t.mu.Lock()
	if t.lost != nil {
		t.mu.Unlock()
		return
	}
	t.outbox = append(t.outbox, wire.Frame{Kind: k, Payload: wire.Append(nil, p)})
	t.posted.Store(int64(len(t.outbox)))
	t.mu.Unlock()
	t.flush()
	if t.reading.TryLock() { // the answer has to be read
		t.passOn()
	}
}

// flush sends the outbox while there is room, unless another goroutine does.
func (t *transport) flush() {
	for t.posted.Load() > 0 && !t.full.Load() && t.posting.TryLock() {
		t.mu.Lock()
		var f wire.Frame
		if len(t.outbox) > 0 {
			f = t.outbox[0]
		}
		t.mu.Unlock()
		if f.Kind != 0 && !errors.Is(t.put(f), wire.ErrTimeout) {
			t.mu.Lock()
			if len(t.outbox) > 0 { // else the connection has ended
				t.outbox = t.outbox[1:]
				t.posted.Store(int64(len(t.outbox)))
			}
			t.mu.Unlock()
		}
		t.posting.Unlock()
	}
}
