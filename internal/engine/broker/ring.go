package broker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// doorbell is the bell of a session, by which one evaluation at a time goes to the
// broker; others take the socket meanwhile. The zero doorbell is never free.
type doorbell struct {
	*wire.Bell
	taken  sync.Mutex // held until the answer to what is out has come
	serial uint64     // of the last frame; who has taken has it, as buf
	buf    []byte
	out    *call // given up, and not answered yet; the session's mu guards it
	unseen bool  // the broker ended before it took what was out; mu guards it
}

// longest is the longest sleep at the bell. One that slept that long, or a slice at
// first, looks whether anybody wants it to go on.
const longest = 8 * time.Millisecond

// hang makes b the bell of the session, or drops it when the broker does not answer it.
func (s *session) hang(b *wire.Bell) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.hello.Bell || s.lost != nil {
		_ = b.Close() // never fails
		return
	}
	s.bell.Bell, s.bell.buf = b, make([]byte, wire.MaxFrame)
}

// free takes the bell, if nobody has it.
func (b *doorbell) free() bool { return b.Bell != nil && b.taken.TryLock() }

// ring is exchange by the bell, which the caller has taken.
func (s *session) ring(ctx context.Context, c *call, k wire.Kind, payload []byte) error {
	b := &s.bell
	b.serial++
	c.id, c.err, c.late, c.rung = wire.BellID|b.serial&^wire.BellID, nil, nil, true
	over := s.over.Load() // or a broker that was given up would be asked
	var err error
	if !over {
		err = b.Send(wire.Frame{Kind: k, ID: c.id, Payload: payload})
	}
	if !over && err == nil {
		return s.listen(ctx, c)
	}
	b.taken.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost != nil {
		return s.missed()
	}
	return err
}

// listen waits at the bell for the answer to c. When ctx ends before, the error is an
// outError, and the bell is taken still, unless the broker had not seen the call.
func (s *session) listen(ctx context.Context, c *call) error {
	last := false
	for wait := slice; ; wait = min(2*wait, longest) {
		f, err := s.bell.Receive(s.bell.buf, wait)
		switch {
		case err == nil && f.ID == c.id:
			c.kind, c.body = f.Kind, append(c.body[:0], f.Payload...)
			s.bell.taken.Unlock()
			return nil
		case err == nil:
			s.fail(&lostError{cause: errors.New("the broker answers what was not asked: " + f.Kind.String())}, 0)
		case !errors.Is(err, wire.ErrTimeout) && !errors.Is(err, wire.ErrClosed):
			s.fail(&lostError{cause: err}, 0)
		case last:
			s.fail(&lostError{cause: errGone}, 0)
		case !s.over.Load() && hungUp(s.fd):
			last, wait = true, 0 // what it answered before is there now
			continue
		}
		if s.over.Load() {
			return s.verdict()
		}
		if ctx.Err() != nil {
			if s.bell.Retract() {
				s.bell.taken.Unlock()
				return ended(ctx)
			}
			return outError{ended(ctx)}
		}
	}
}

// verdict is the error of the call that was out when the session ended, whose caller has
// taken the bell, and gives it back. fail may be under way still: what it finds out is
// about this call because nobody else can ring before.
func (s *session) verdict() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.bell.taken.Unlock()
	if s.bell.unseen {
		return s.missed()
	}
	return s.lost
}

// errGone is how the end of the broker shows to who waits at the bell.
var errGone = errors.New("the broker's process has ended")

// leaveRung is leave for a call that went by the bell. The caller holds mu.
func (s *session) leaveRung(c *call, late func(*call)) bool {
	if s.lost != nil {
		c.err = s.lost
		c.done <- struct{}{}
		s.bell.taken.Unlock()
		return false
	}
	c.late = late
	s.bell.out = c
	go s.attend(c)
	return true
}

// attend waits for the answer to a call that was given up. If the broker ends first,
// bury does the rest.
func (s *session) attend(c *call) {
	_ = s.listen(context.Background(), c) // a broker that was lost is seen below
	s.mu.Lock()
	mine := s.bell.out == c
	if mine {
		s.bell.out = nil
	}
	s.mu.Unlock()
	if mine {
		c.late(c)
	}
}
