package broker

import (
	"context"
	"errors"
	"time"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// slice is how long a call of the socket waits before its caller looks at its
// context, or leaves the wait for an answer to run: much longer than a short
// evaluation, short for somebody who waits for a cancelled call.
const slice = time.Millisecond

// exchange sends a request for c and waits for its answer. When ctx ends
// before, the error is an outError and the call is still out.
func (s *session) exchange(ctx context.Context, c *call, k wire.Kind, payload []byte, fds ...int) error {
	if k == wire.KindEvaluate && s.bell.free() {
		return s.ring(ctx, c, k, payload)
	}
	if err := s.begin(c); err != nil {
		return err
	}
	if err := s.send(ctx, wire.Frame{Kind: k, ID: c.id, Payload: payload}, fds...); err != nil {
		s.withdraw(c)
		return err
	}
	if s.reading.TryLock() && s.lead(ctx, c) {
		return c.err
	}
	select {
	case <-c.done:
		return c.err
	default:
	}
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return outError{ended(ctx)}
	}
}

// lead reads until c is answered, and reports that it is, or its answer takes
// long.
func (s *session) lead(ctx context.Context, c *call) bool {
	defer s.passOn()
	for {
		id, ok := s.receive(c)
		if ok && id == c.id {
			return true
		}
		if !ok || len(c.done) > 0 || ctx.Err() != nil {
			return false
		}
	}
}

// passOn gives up reading: to run while answers are missing.
func (s *session) passOn() {
	for {
		if s.unanswered.Load() > 0 {
			s.wake <- struct{}{} // one place, and only who reads sends
			return
		}
		s.reading.Unlock()
		// Somebody may have sent meanwhile and found reading taken.
		if s.unanswered.Load() == 0 || !s.reading.TryLock() {
			return
		}
	}
}

// run reads what no caller does, and buries the session.
func (s *session) run() {
	for {
		select {
		case <-s.wake:
			for s.unanswered.Load() > 0 && !s.over.Load() {
				waitReadable(s.fd) // instead of a look every slice
				s.receive(nil)
			}
			if s.over.Load() {
				s.reading.Unlock()
			} else {
				s.passOn()
			}
		case <-s.dead:
			s.bury()
			return
		}
	}
}

// receive reads one frame and hands it to whom it is for, unless that is own,
// whose caller reads. It returns the frame's id; false when none came in time, or
// the session is over. A frame that cannot be understood ends the session: what it
// answered would be waited for in vain.
func (s *session) receive(own *call) (uint64, bool) {
	f, fds, err := s.conn.Receive(s.buf)
	if err != nil {
		if !errors.Is(err, wire.ErrTimeout) {
			s.fail(&lostError{cause: err}, 0)
		}
		return 0, false
	}
	fds.Close() // no answer has any
	s.unanswered.Add(-1)
	s.full.Store(false)
	if s.posted.Load() > 0 {
		s.flush()
	}
	if f.ID == 0 {
		return 0, true
	}
	s.mu.Lock()
	c := s.take(f.ID)
	if c == nil {
		s.mu.Unlock()
		s.fail(&lostError{cause: errors.New("the broker answers what was not asked: " + f.Kind.String())}, 0)
		return 0, false
	}
	c.kind, c.body = f.Kind, append(c.body[:0], f.Payload...)
	late := c.late
	s.mu.Unlock()
	switch {
	case late != nil:
		late(c)
	case c != own:
		c.done <- struct{}{}
	}
	return f.ID, true
}

// send sends a frame, or nothing. It waits for room in the socket until ctx ends.
func (s *session) send(ctx context.Context, f wire.Frame, fds ...int) error {
	for {
		err := s.put(f, fds...)
		if !errors.Is(err, wire.ErrTimeout) {
			return err
		}
		if ctx.Err() != nil {
			return ended(ctx)
		}
	}
}

// put sends a frame; wire.ErrTimeout when there was no room for it.
func (s *session) put(f wire.Frame, fds ...int) error {
	s.unanswered.Add(1) // before the answer can come
	err := s.conn.Send(f, fds...)
	if err == nil {
		return nil
	}
	s.unanswered.Add(-1)
	switch {
	case errors.Is(err, wire.ErrTimeout):
		s.full.Store(true)
	case errors.Is(err, wire.ErrClosed):
		s.fail(&lostError{cause: err}, 0)
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.missed()
	}
	return err
}

// post sends a frame whose answer does not matter, now or when there is room. It
// waits no longer than a slice, and not at all while a slice was not enough.
func (s *session) post(k wire.Kind, p wire.Payload) {
	s.mu.Lock()
	if s.lost != nil {
		s.mu.Unlock()
		return
	}
	s.outbox = append(s.outbox, wire.Frame{Kind: k, Payload: p.Append(nil)})
	s.posted.Store(int64(len(s.outbox)))
	s.mu.Unlock()
	s.flush()
	if s.reading.TryLock() { // the answer has to be read
		s.passOn()
	}
}

// flush sends what was posted while there is room, unless somebody else does.
func (s *session) flush() {
	for s.posted.Load() > 0 && !s.full.Load() && s.posting.TryLock() {
		s.mu.Lock()
		var f wire.Frame
		if len(s.outbox) > 0 {
			f = s.outbox[0]
		}
		s.mu.Unlock()
		if f.Kind != 0 && !errors.Is(s.put(f), wire.ErrTimeout) {
			s.mu.Lock()
			if len(s.outbox) > 0 { // else the session has ended
				s.outbox = s.outbox[1:]
				s.posted.Store(int64(len(s.outbox)))
			}
			s.mu.Unlock()
		}
		s.posting.Unlock()
	}
}
