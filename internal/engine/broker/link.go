package broker

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// link is the connection to one broker, and what that broker knows of this client. It ends once, by Close of the Engine
// or because the broker has gone; then the engine takes the next one in its place.
//
// Evaluations go through the bell when that is free, everything else over the socket. A goroutine reads the socket,
// and finds out that the broker has gone. Every request is awaited: a caller that does not wait leaves that to a
// goroutine.
type link struct {
	conn    *wire.Conn
	child   *child // nil for a shared broker
	hello   wire.HelloReply
	exports exports
	queue   chan struct{} // a token for each evaluation that is in flight
	runs    atomic.Uint64 // sequence numbers of evaluations

	bell    *wire.Bell // asked once hello says that the broker answers it
	ringing sync.Mutex // held until the answer to what is in flight in the bell has come; guards these
	rung    uint64     // number of the last frame
	heard   []byte
	slept   time.Duration // the sleep in which the last answer came; a first one that is too short costs a second
	rested  time.Time

	over    atomic.Bool // lost is set
	mu      sync.Mutex
	lost    *wire.Error
	pending map[uint64]*pending // in flight over the socket, by id
	last    uint64              // id of the last

	grace   time.Duration // that the broker's process has to end by itself
	buried  chan struct{} // closed when the process has ended and everything is given back
	failure error         // of ending the process; set before buried is closed
}

// slice is how long Send waits for room in the socket before its caller checks its context, and the least first
// sleep of a caller at the bell. It is much longer than a short evaluation, and short for a caller that waits for a cancelled one.
const slice = time.Millisecond

// newConn makes a connection of a socket.
func newConn(fd int) (*wire.Conn, error) {
	conn, err := wire.NewConn(fd)
	if err != nil {
		return nil, err
	}
	if err := conn.SetPatience(slice, slice); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// newLink takes over a connection, the broker's process and this end of a bell; both may be nil.
func newLink(conn *wire.Conn, c *child, bell *wire.Bell) *link {
	l := &link{conn: conn, child: c, bell: bell, heard: make([]byte, wire.MaxFrame), pending: map[uint64]*pending{},
		exports: exports{known: map[*block]*export{}}, buried: make(chan struct{})}
	go l.read()
	return l
}

// close ends the connection, once. The broker's process has grace to end by itself.
func (l *link) close(cause error, grace time.Duration) {
	l.mu.Lock()
	if l.lost != nil {
		l.mu.Unlock()
		return
	}
	l.lost, l.grace = lost(cause), grace
	l.over.Store(true)
	waiting := l.pending
	l.pending = nil
	l.mu.Unlock()
	_ = l.conn.Close() // it has nothing to lose
	for _, p := range waiting {
		p.err = l.lost
		p.done <- struct{}{}
	}
}

// read hands each answer to its request until the connection is over, and gives back what the link held. A frame that
// cannot be parsed ends the connection: its request would wait forever.
func (l *link) read() {
	for buf := make([]byte, wire.MaxFrame); !l.over.Load(); {
		f, fds, err := l.conn.Receive(buf)
		fds.Close() // no answer has any
		switch {
		case errors.Is(err, wire.ErrTimeout):
			_ = l.conn.Control(waitReadable) // the next Receive finds out what there is
		case err != nil:
			l.close(err, 0)
		default:
			p := l.delist(f.ID)
			if p == nil {
				l.close(errStray(f.Kind), 0)
				continue
			}
			p.kind, p.body = f.Kind, append(p.body[:0], f.Payload...)
			p.done <- struct{}{}
			runtime.Gosched() // its caller goes on before the next read blocks this thread
		}
	}
	l.ringing.Lock()   // a caller that waited at the bell has seen that the connection is over
	_ = l.bell.Close() // never fails
	l.failure = l.child.stop(l.grace)
	close(l.buried)
}

// errStray is the cause of an end by an answer to no question.
func errStray(k wire.Kind) error {
	return errors.New("the broker answers a request that was not made: " + k.String())
}

// missed is the error of a request on a link that is over, which the broker has not seen.
func (l *link) missed() error { return notSent(l.lost.Cause) }

// understood ends the connection when the broker answers what cannot be parsed.
func (l *link) understood(err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok && e.State == wire.Refused {
		l.close(err, 0)
		return lost(err)
	}
	return err
}

// traffic counts what went over the connection.
func (l *link) traffic() wire.Traffic { return l.conn.Traffic().Plus(l.bell.Traffic()) }
