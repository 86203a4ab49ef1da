package broker

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// transport is one connection to one broker: it asks, posts, closes and counts. The rest
// of the client hands it payloads and gets answers, or errors of package wire. It ends once,
// by Close of the Engine or because the broker has gone.
//
// An evaluation goes through the bell when that is free. Everything else goes over the
// socket, whose frames one goroutine at a time reads, the one that holds reading: a caller
// that waits for its own answer, so that an evaluation on its own costs no change of
// goroutine, or else run, which reads when several callers wait, when an answer takes long,
// and when no caller waits for it.
type transport struct {
	conn *wire.Conn
	fd   int // of conn, for waiting; open until bury closes conn
	bell doorbell

	reading sync.Mutex    // held by the reader; run gets it locked
	wake    chan struct{} // tells run that it has reading
	posting sync.Mutex    // held by the sender of the outbox
	buf     []byte        // the reader's

	unanswered atomic.Int64 // frames sent whose answer was not read
	posted     atomic.Int64 // length of outbox
	full       atomic.Bool  // the last frame found no room, and none was received since
	over       atomic.Bool  // lost is set

	mu       sync.Mutex
	lost     *wire.Error
	calls    map[uint64]*call // in flight over the socket, by id
	serial   uint64           // of the last call over the socket
	outbox   []wire.Frame     // sent when there is room; no caller waits for their answers
	orphaned []*call          // given up; their late is called when the broker has ended

	ended   func()                      // called once, when lost is set
	reap    func(d time.Duration) error // ends the broker's process, after at most d of grace
	grace   time.Duration               // for reap; set before dead is closed
	dead    chan struct{}               // closed when lost is set
	buried  chan struct{}               // closed when everything is given back
	failure error                       // of reap; set before buried is closed
}

// newTransport takes over a connection, whose descriptor is fd.
func newTransport(conn *wire.Conn, fd int, ended func(), reap func(time.Duration) error) *transport {
	t := &transport{conn: conn, fd: fd, ended: ended, reap: reap, calls: map[uint64]*call{},
		wake: make(chan struct{}, 1), buf: make([]byte, wire.MaxFrame),
		dead: make(chan struct{}), buried: make(chan struct{})}
	go t.run()
	return t
}

// errEngineClosed is the cause of every failure after Close of the Engine.
var errEngineClosed = errors.New("the engine was closed")

// lost is the error of a request that was in flight when its connection ended.
func lost(cause error) *wire.Error { return &wire.Error{State: wire.Lost, Op: "ask", Cause: cause} }

// notSent is the error of a request that the broker has not seen.
func notSent(cause error) error { return &wire.Error{State: wire.Unsent, Op: "ask", Cause: cause} }

// inFlight is the error of a request whose context ended before its answer.
func inFlight(cause error) error { return &wire.Error{State: wire.InFlight, Op: "ask", Cause: cause} }

// missed is notSent on a connection that is over. The caller holds mu.
func (t *transport) missed() error { return notSent(t.lost.Cause) }

// lostItself reports whether the broker has gone without Close of the Engine.
func (t *transport) lostItself() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lost != nil && !errors.Is(t.lost.Cause, errEngineClosed)
}

// traffic counts what went over the connection.
func (t *transport) traffic() wire.Traffic { return t.conn.Traffic().Plus(t.bell.Traffic()) }

// close ends the connection, once. The broker's process has grace to end by itself.
func (t *transport) close(cause error, grace time.Duration) {
	t.mu.Lock()
	if t.lost != nil {
		t.mu.Unlock()
		return
	}
	t.lost, t.grace = lost(cause), grace
	t.over.Store(true)
	var waiting []*call
	for _, c := range t.calls {
		switch {
		case c == nil:
		case c.late != nil:
			t.orphaned = append(t.orphaned, c)
		default:
			waiting = append(waiting, c)
		}
	}
	clear(t.calls)
	t.bell.unseen = t.bell.Retract()
	if t.bell.orphan != nil {
		t.orphaned = append(t.orphaned, t.bell.orphan)
		t.bell.orphan = nil
	}
	t.outbox = nil
	t.posted.Store(0)
	why := t.lost
	t.mu.Unlock()

	hangUp(t.fd)
	_ = t.bell.Close() // never fails
	for _, c := range waiting {
		c.err = why
		c.done <- struct{}{}
	}
	t.ended()
	close(t.dead)
}

// bury gives back what the connection held, when no caller uses it any more.
func (t *transport) bury() {
	for got := false; !got && !t.reading.TryLock(); {
		select {
		case <-t.wake:
			got = true
		case <-time.After(slice):
		}
	}
	t.bell.taken.Lock() // a caller that waited at the bell has seen that the connection is over
	_ = t.conn.Close()  // a socket that was shut down has nothing to lose
	t.failure = t.reap(t.grace)
	t.mu.Lock()
	orphaned := t.orphaned
	t.orphaned = nil
	t.mu.Unlock()
	for _, c := range orphaned { // the broker has ended: it touches no memory any more
		c.err = t.lost
		c.late(c)
	}
	t.reading.Unlock() // the next reader finds that the connection is over
	close(t.buried)
}

// understood ends the connection when the broker answers what cannot be parsed.
func (t *transport) understood(err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok && e.State == wire.Refused {
		t.close(err, 0)
		return lost(err)
	}
	return err
}
