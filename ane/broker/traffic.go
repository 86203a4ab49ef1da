package broker

import (
	"context"
	"errors"
	"time"

	"github.com/anekit/anekit/ane/broker/wire"
)

// slice is how long a call of the socket waits before its caller looks at its
// context, or leaves the wait for an answer to run: much longer than a short
// evaluation, short for somebody who waits for a cancelled call.
const slice = time.Millisecond

// exchange sends a request for c and waits for its answer. When ctx ends
// before, the error is an outError and the call is still out.
func (s *session) exchange(ctx context.Context, c *call, k wire.Kind, payload []byte, fds ...int) error {
	if err := s.begin(c); err != nil {
		return err
	}
	if err := s.send(ctx, wire.Frame{Kind: k, ID: c.id, Payload: payload}, fds...); err != nil {
		s.withdraw(c)
		return err
	}
	select {
	case s.reading <- struct{}{}:
		s.lead(ctx, c)
	default:
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

// lead reads until c is answered, or its answer takes long.
func (s *session) lead(ctx context.Context, c *call) {
	for len(c.done) == 0 && s.receive() && ctx.Err() == nil {
	}
	s.passOn()
}

// passOn gives up the token of reading: to run while answers are missing.
func (s *session) passOn() {
	for {
		if s.unanswered.Load() > 0 {
			s.wake <- struct{}{} // one place, and only who has the token sends
			return
		}
		<-s.reading
		if s.unanswered.Load() == 0 {
			return
		}
		select { // somebody sent meanwhile and found the token taken
		case s.reading <- struct{}{}:
		default:
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
				s.receive()
			}
			if s.over.Load() {
				<-s.reading
			} else {
				s.passOn()
			}
		case <-s.dead:
			s.bury()
			return
		}
	}
}

// receive reads one frame and hands it to whom it is for; false when none came in
// time, or the session is over. A frame that cannot be understood ends the
// session: what it answered would be waited for in vain.
func (s *session) receive() bool {
	f, fds, err := s.conn.Receive(s.buf)
	if err != nil {
		if !errors.Is(err, wire.ErrTimeout) {
			s.fail(&lostError{cause: err}, 0)
		}
		return false
	}
	fds.Close() // no answer has any
	s.unanswered.Add(-1)
	s.full.Store(false)
	if s.posted.Load() > 0 {
		s.flush()
	}
	if f.ID == 0 {
		return true
	}
	s.mu.Lock()
	c := s.take(f.ID)
	if c == nil {
		s.mu.Unlock()
		s.fail(&lostError{cause: errors.New("the broker answers what was not asked: " + f.Kind.String())}, 0)
		return false
	}
	c.kind, c.body = f.Kind, append(c.body[:0], f.Payload...)
	late := c.late
	s.mu.Unlock()
	if late != nil {
		late(c)
	} else {
		c.done <- struct{}{}
	}
	return true
}

// send sends a frame, or nothing. It waits for room in the socket until ctx ends.
func (s *session) send(ctx context.Context, f wire.Frame, fds ...int) error {
	if err := enter(ctx, s.sending); err != nil {
		return err
	}
	defer s.sent()
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

// put sends a frame; wire.ErrTimeout when there was no room for it. The caller
// has the token of sending.
func (s *session) put(f wire.Frame, fds ...int) error {
	s.unanswered.Add(1) // before the answer can come
	err := s.conn.Send(f, fds...)
	s.full.Store(errors.Is(err, wire.ErrTimeout))
	if err == nil {
		return nil
	}
	s.unanswered.Add(-1)
	if errors.Is(err, wire.ErrClosed) {
		s.fail(&lostError{cause: err}, 0)
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.missed()
	}
	return err
}

// sent gives the token of sending back and sends what was posted meanwhile.
func (s *session) sent() {
	for {
		if s.posted.Load() > 0 {
			s.drain()
		}
		<-s.sending
		if s.posted.Load() == 0 || s.full.Load() {
			return
		}
		select {
		case s.sending <- struct{}{}:
		default:
			return
		}
	}
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
	select { // the answer has to be read
	case s.reading <- struct{}{}:
		s.passOn()
	default:
	}
}

// flush sends what was posted, unless somebody is sending and will do it.
func (s *session) flush() {
	select {
	case s.sending <- struct{}{}:
		s.sent()
	default:
	}
}

// drain sends what was posted while there is room. The caller has the token of
// sending.
func (s *session) drain() {
	for !s.full.Load() {
		s.mu.Lock()
		if len(s.outbox) == 0 {
			s.outbox = nil
			s.posted.Store(0)
			s.mu.Unlock()
			return
		}
		f := s.outbox[0]
		s.mu.Unlock()
		if err := s.put(f); errors.Is(err, wire.ErrTimeout) {
			return
		}
		s.mu.Lock()
		if len(s.outbox) > 0 { // else the session ended
			s.outbox = s.outbox[1:]
		}
		s.posted.Store(int64(len(s.outbox)))
		s.mu.Unlock()
	}
}
