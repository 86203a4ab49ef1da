package broker

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// session is one connection to one broker. It ends once, by Close of the Engine
// or because the broker has gone, and is then replaced.
//
// An evaluation goes by the bell when that is free. Everything else goes by the
// socket, whose frames are read by one goroutine at a time, whoever has reading: a
// caller that waits for its own answer, so that an evaluation on its own costs no
// change of goroutine, or else run, which reads when several wait, when an answer
// takes long, and when nobody waits for it.
type session struct {
	conn     *wire.Conn
	fd       int // of conn, for waiting; open until bury closes conn
	proc     *process
	hello    wire.HelloReply
	surfaces surfaces
	queue    chan struct{} // a token for each evaluation that is out
	bell     doorbell

	reading sync.Mutex    // held by whoever reads; run gets it locked
	wake    chan struct{} // tells run that it has reading
	posting sync.Mutex    // held by whoever sends what was posted
	buf     []byte        // belongs to whoever reads

	sequence   atomic.Uint64 // of evaluations
	unanswered atomic.Int64  // frames sent whose answer was not read
	posted     atomic.Int64  // length of outbox
	full       atomic.Bool   // the last frame found no room, and none was received since
	over       atomic.Bool   // lost is set

	mu     sync.Mutex
	lost   *lostError
	slots  []*call
	free   []uint32
	serial uint32
	outbox []wire.Frame // to be sent when there is room; their answers are for nobody
	bereft []*call      // whose late is to be called when the broker has ended

	grace   time.Duration // what the process has to end by itself; set before dead is closed
	dead    chan struct{} // closed when lost is set
	buried  chan struct{} // closed when everything is given back
	failure error         // of ending the process; set before buried is closed
}

func newSession(conn *wire.Conn, fd int, proc *process) *session {
	s := &session{conn: conn, fd: fd, proc: proc,
		wake: make(chan struct{}, 1),
		buf:  make([]byte, wire.MaxFrame), dead: make(chan struct{}), buried: make(chan struct{})}
	s.surfaces.open = map[*block]*surface{}
	go s.run()
	return s
}

// begin gives c a slot. The call may have been used before.
func (s *session) begin(c *call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost != nil {
		return s.missed()
	}
	if len(s.free) == 0 {
		s.free = append(s.free, uint32(len(s.slots)))
		s.slots = append(s.slots, nil)
	}
	slot := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	if s.serial++; s.serial == wire.BellID>>32 {
		s.serial = 1
	}
	c.id = uint64(s.serial)<<32 | uint64(slot)
	c.err, c.late, c.rung = nil, nil, false
	s.slots[slot] = c
	return nil
}

// missed is lost for a request that the broker has not seen.
func (s *session) missed() error {
	return &lostError{cause: s.lost.cause, closed: s.lost.closed, unsent: true}
}

// take removes the call with this id from its slot; nil when there is none. The
// caller holds mu.
func (s *session) take(id uint64) *call {
	slot := slotOf(id)
	if slot >= len(s.slots) || s.slots[slot] == nil || s.slots[slot].id != id {
		return nil
	}
	c := s.slots[slot]
	s.slots[slot] = nil
	s.free = append(s.free, uint32(slot))
	return c
}

// withdraw takes back a call that was not sent.
func (s *session) withdraw(c *call) {
	s.mu.Lock()
	taken := s.take(c.id)
	s.mu.Unlock()
	if taken == nil {
		<-c.done // the session ended meanwhile
	}
}

// leave gives a call up: late is called with the answer, by whoever reads it, or
// once the broker has ended. It reports false when the answer is there already.
func (s *session) leave(c *call, late func(*call)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.rung {
		return s.leaveRung(c, late)
	}
	slot := slotOf(c.id)
	if slot >= len(s.slots) || s.slots[slot] != c {
		return false
	}
	c.late = late
	return true
}

// lostItself reports whether the broker has gone without Close.
func (s *session) lostItself() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost != nil && !s.lost.closed
}

// fail ends the session, once.
func (s *session) fail(why *lostError, grace time.Duration) {
	s.mu.Lock()
	if s.lost != nil {
		s.mu.Unlock()
		return
	}
	s.lost, s.grace = why, grace
	s.over.Store(true)
	var waiting []*call
	for i, c := range s.slots {
		switch {
		case c == nil:
		case c.late != nil:
			s.bereft = append(s.bereft, c)
		default:
			waiting = append(waiting, c)
		}
		s.slots[i] = nil
	}
	s.bell.unseen = s.bell.Retract()
	if s.bell.out != nil {
		s.bereft = append(s.bereft, s.bell.out)
		s.bell.out = nil
	}
	s.outbox = nil
	s.posted.Store(0)
	s.mu.Unlock()

	hangUp(s.fd)
	_ = s.bell.Close() // never fails
	for _, c := range waiting {
		c.err = why
		c.done <- struct{}{}
	}
	s.surfaces.forget()
	close(s.dead)
}

// bury gives back what the session held, when nobody uses it any more.
func (s *session) bury() {
	for got := false; !got && !s.reading.TryLock(); {
		select {
		case <-s.wake:
			got = true
		case <-time.After(slice):
		}
	}
	s.bell.taken.Lock() // whoever waited at the bell has seen that it is over
	_ = s.conn.Close()  // a socket that was shut down has nothing to lose
	s.failure = s.proc.end(s.grace)
	s.mu.Lock()
	bereft := s.bereft
	s.bereft = nil
	s.mu.Unlock()
	for _, c := range bereft { // the broker has ended: it touches no memory any more
		c.err = s.lost
		c.late(c)
	}
	s.reading.Unlock() // whoever reads now finds that it is over
	close(s.buried)
}

// ask sends a request and reads its answer into reply. When ctx ends before, the
// error is an outError and late is called with the answer; a nil late means that
// the answer does not matter.
func (s *session) ask(ctx context.Context, k wire.Kind, request, reply wire.Payload, late func(*call), fds ...int) error {
	if err := wire.Check(request); err != nil {
		return err
	}
	if late == nil {
		late = func(*call) {}
	}
	c := newCall()
	err := s.exchange(ctx, c, k, request.Append(nil), fds...)
	if isOut(err) && !s.leave(c, late) {
		<-c.done
		err = nil
	}
	if err != nil {
		return err
	}
	return s.heed(c.answer(k, reply))
}

// heed ends the session when a broker sends what cannot be understood.
func (s *session) heed(err error) error {
	if _, ok := errors.AsType[*wire.Error](err); ok {
		why := &lostError{cause: err}
		s.fail(why, 0)
		return why
	}
	return err
}
