package server

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/driverabi"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// session is one client: its connection, its tables, its part of the driver. One
// goroutine reads frames of the connection and answers them, and another one those of
// the bell, never both at once; compiles and completions of queued requests are
// answered by others.
type session struct {
	*server
	conn   *wire.Conn
	bell   *wire.Bell // nil for a client that has none; set before it is admitted
	id     Identity
	tier   driverabi.Tier
	number uint64
	log    *slog.Logger
	dev    *device

	ctx    context.Context // ends with the connection
	cancel context.CancelFunc
	work   sync.WaitGroup // compiles
	asked  chan struct{}  // a token for each compile that was not answered
	turns  chan struct{}  // a token for each that is being done
	ringer sync.WaitGroup // who answers the bell
	turn   sync.Mutex     // held while a frame is answered

	greeted atomic.Int64 // tick at which the client has to be admitted; 0 once it is
	sending atomic.Int64 // tick at which the present Send began; 0 for none
	sendMu  sync.Mutex
	answer  []byte       // payload that is being sent
	done    chan *flight // those to be answered, then nil; has room for all of them

	mu       sync.Mutex // guards the tables; never held while something waits
	surfaces map[uint32]*surface
	pinned   uint64 // bytes of surfaces
	programs map[uint32]*program
	requests map[uint32]*request
	handle   uint32 // the last that was given
	flights  [driverabi.QueueDepth]*flight
	idling   []*flight // of flights, those not in use
	next     uint32    // sequence number of the next request to the driver
	loaded   map[*resident]*attachment
	trouble  int // refused frames in a row; turn guards it
}

// newSession makes a session that has not been admitted yet.
func newSession(s *server, conn *wire.Conn, id Identity) *session {
	c := &session{server: s, conn: conn, id: id, log: s.conf.Log, done: make(chan *flight, driverabi.QueueDepth+1),
		asked: make(chan struct{}, MaxCompiles), turns: make(chan struct{}, maxCompiling), answer: make([]byte, 0, 512),
		surfaces: map[uint32]*surface{}, programs: map[uint32]*program{}, requests: map[uint32]*request{},
		loaded: map[*resident]*attachment{}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.greeted.Store(s.ticks.Load())
	return c
}

// look cuts off a client that does not introduce itself or does not read. The watch
// calls it.
func (c *session) look(now int64) {
	if late(c.greeted.Load(), now, c.conf.hello) || late(c.sending.Load(), now, c.conf.write) {
		_ = c.conn.Close() // never fails
	}
}

// run serves the client until its connection ends, for whatever reason, and gives
// back everything it had. An error is one of the broker's own.
func (c *session) run() error {
	if err := c.enter(c); err != nil {
		c.cancel()
		c.turnAway(c.conn, err)
		return nil
	}
	defer c.leave(c)
	c.log = c.log.With("session", c.number)
	var writer sync.WaitGroup
	writer.Go(c.deliver)
	c.serve()
	_ = c.bell.Close() // never fails
	c.ringer.Wait()
	err := c.end()
	c.done <- nil
	writer.Wait()
	return err
}

// serve reads frames until the connection ends or the client is cut off.
func (c *session) serve() {
	defer c.conn.Close()
	buf := make([]byte, wire.MaxFrame)
	for {
		f, fds, err := c.conn.Receive(buf)
		if errors.Is(err, wire.ErrClosed) {
			return
		}
		if errors.Is(err, wire.ErrDescriptors) && f.ID == 0 {
			// The packet is here all the same, only its descriptors are not: too many
			// for a frame, or for this process. Who asked has to hear of it.
			f, _ = wire.ParseFrame(buf[:wire.HeaderSize])
		}
		more := c.treat(&f, fds, err)
		fds.Close()
		if !more {
			return
		}
	}
}

// treat answers one frame, of which err is what was wrong with it. It reports false when
// it was the last one.
func (c *session) treat(f *wire.Frame, fds wire.Descriptors, err error) bool {
	c.turn.Lock()
	defer c.turn.Unlock()
	if err == nil {
		err = c.dispatch(f, fds)
	}
	switch {
	case err == nil:
		c.trouble = 0
		return true
	case errors.Is(err, errEnd):
		return false
	}
	c.trouble++
	c.fault(f.ID, err)
	if c.trouble >= MaxTroubles {
		c.log.Warn("client cut off: nothing but refused frames", "frames", c.trouble)
		return false
	}
	// Whatever speaks another version, it is not this.
	return !errors.Is(err, wire.ErrMagic) && !errors.Is(err, wire.ErrVersion)
}

// errEnd ends a session whose last answer was sent.
var errEnd = errors.New("end of session")

// dispatch answers one frame, or returns why it is refused.
func (c *session) dispatch(f *wire.Frame, fds wire.Descriptors) error {
	if c.greeted.Load() != 0 {
		if f.Kind != wire.KindHello {
			return c.refuseHello(f, &ane.Error{Op: f.Kind.String(), Engine: Name, Err: ane.ErrDenied,
				Detail: "before the client has introduced itself", Hint: "send hello first"})
		}
		if err := c.hello(f, fds); err != nil {
			return c.refuseHello(f, err)
		}
		return nil
	}
	switch f.Kind {
	case wire.KindEvaluate:
		return c.evaluate(f)
	case wire.KindCancel:
		return c.stop(f)
	case wire.KindSurface:
		return c.addSurface(f, fds)
	case wire.KindDrop:
		return c.dropSurface(f)
	case wire.KindCompile:
		own := *f // outlives this call, and f shall not: it would cost memory for every frame
		return c.addProgram(&own, fds)
	case wire.KindInstance:
		own := *f
		return c.addInstance(&own, fds)
	case wire.KindLoad:
		return c.loadProgram(f)
	case wire.KindUnload:
		return c.unloadProgram(f)
	case wire.KindRelease:
		return c.releaseProgram(f)
	case wire.KindBind:
		return c.bind(f)
	case wire.KindUnbind:
		return c.unbind(f)
	case wire.KindPurge:
		return c.purge(f)
	case wire.KindStats:
		return c.stats(f)
	case wire.KindStatus:
		return c.status(f)
	case wire.KindPing:
		return c.ping(f)
	}
	return &wire.Error{Op: "receive", Kind: f.Kind, Err: wire.ErrKind, Detail: f.Kind.String() + " is no request",
		Hint: "send what a client sends"}
}

// end gives back what the client had. The connection is closed.
func (c *session) end() error {
	c.cancel()
	c.work.Wait()
	if c.dev == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.conf.end)
	defer cancel()
	if err := c.dev.client.Close(ctx); err != nil {
		// The engine has not come back from a run. What it may touch stays open until then.
		c.log.Error("client's memory and programs are kept: the engine is stuck", "error", err)
		c.stuck.Go(func() {
			c.server.fail(errors.Join(c.dev.client.Close(context.Background()), c.free()))
		})
		return err
	}
	return c.free()
}

// take gives the next handle: 0 is never one, and neither is one in use.
func (c *session) take(used func(uint32) bool) uint32 {
	for c.handle++; c.handle == 0 || used(c.handle); {
		c.handle++
	}
	return c.handle
}
