package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/broker/server/calls"
	"github.com/anekit/anekit/internal/engine/broker/server/resources"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/logger"
	"github.com/anekit/anekit/internal/numerics"
)

// session is one client. It routes frames to the owners of what the client has. One goroutine reads the frames of the
// connection, and ringers or another goroutine those of the bell; the one that holds turn answers. Other goroutines answer compiles, chains and the completions of
// queued requests.
type session struct {
	*server
	*calls.Answers
	grant  *grant
	number uint64
	peer   admission.Process
	placed bool // the client has one of the places; the server's lock guards it
	log    logger.Logger
	dev    *resources.Device // set when the client is admitted

	ctx    context.Context // ends with the connection
	cancel context.CancelFunc

	has      *resources.Client
	calls    *calls.Calls
	compiles compiles

	ringer   sync.WaitGroup // the goroutine that reads the bell
	held     bool           // a leader of the ringers answers a frame; their lock guards it
	turn     sync.Mutex     // held while a frame is answered
	trouble  int            // refused frames in a row; turn guards it
	admitted atomic.Bool
}

// newSession makes a session that has not been admitted yet.
func newSession(s *server, conn *wire.Conn, id admission.Identity, peer admission.Process) *session {
	c := &session{server: s, log: logger.With(s.conf.Log, peer.Attrs()...), peer: peer,
		Answers: &calls.Answers{Conn: conn, Faults: &s.counts.faults},
		grant:   &grant{Rights: admission.Rights{Policy: s.conf.Policy, ID: id}}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.has = resources.NewClient(s.budgets, s.live)
	c.calls = calls.New(c.ctx, &s.counts.Counts, c.Answers, &c.has.Requests)
	c.compiles = compiles{asked: make(chan struct{}, MaxCompiles), doing: make(chan struct{}, maxCompiling)}
	return c
}

// open gives the owners the admitted client's connections to the driver.
func (c *session) open(dev *resources.Device) {
	c.dev = dev
	c.has.Open(dev)
	c.calls.Open(dev)
}

// run serves the client until its connection ends, for whatever reason, and gives
// back everything it had. An error is one of the broker's own.
func (c *session) run() error {
	c.enter(c)
	defer c.leave(c)
	defer context.AfterFunc(c.server.ctx, func() { _ = c.Conn.Close() })() // never fails
	_ = c.Conn.SetPatience(0, c.conf.write)                                // fails only when the connection has ended
	late := time.AfterFunc(c.conf.hello, func() {
		if !c.admitted.Load() {
			_ = c.Conn.Close() // never fails
		}
	})
	defer late.Stop()
	c.log = logger.With(c.log, "session", c.number)
	var writer sync.WaitGroup
	writer.Go(c.calls.Deliver)
	c.serve()
	_ = c.Bell.Close()     // never fails
	c.ringers.sleep.Wake() // a hostile client can take away the wake-up by the bell
	c.ringer.Wait()
	err := c.end()
	c.calls.Stop()
	writer.Wait()
	return err
}

// serve reads frames until the connection ends or the client is cut off.
func (c *session) serve() {
	defer c.Conn.Close()
	buf := make([]byte, wire.MaxFrame)
	for {
		f, fds, err := receive(c.Conn, buf)
		if errors.Is(err, wire.ErrClosed) {
			return
		}
		more := c.treat(&f, fds, err)
		fds.Close()
		if !more {
			return
		}
	}
}

// receive receives a frame. A frame whose descriptors did not arrive (too many for a frame or for this process) still
// has its header, so that the client gets an error.
func receive(conn *wire.Conn, buf []byte) (f wire.Frame, fds wire.Descriptors, err error) {
	f, fds, err = conn.Receive(buf)
	if errors.Is(err, wire.ErrDescriptors) && f.ID == 0 {
		f, _ = wire.ParseFrame(buf[:wire.HeaderSize])
	}
	return f, fds, err
}

// treat answers one frame, of which err is what was wrong with it. It reports false when
// it was the last one.
func (c *session) treat(f *wire.Frame, fds wire.Descriptors, err error) bool {
	c.turn.Lock()
	defer c.turn.Unlock()
	return c.reply(f, fds, err)
}

// reply is treat, of a caller that has the turn.
func (c *session) reply(f *wire.Frame, fds wire.Descriptors, err error) bool {
	switch {
	case err != nil:
	case c.draining.Load() && begins(f.Kind):
		c.Fault(f.ID, ending(f.Kind.String()))
		return true
	case f.Kind == wire.KindEvaluate && c.admitted.Load():
		err = c.calls.Evaluate(f)
	default:
		err = c.route(f, fds)
	}
	switch {
	case err == nil:
		c.trouble = 0
		return true
	case errors.Is(err, errEnd):
		return false
	}
	c.trouble++
	c.Fault(f.ID, err)
	if c.trouble >= MaxTroubles {
		c.log.Warn("client cut off: nothing but refused frames", "frames", c.trouble)
		return false
	}
	// A peer that speaks another version is no client of this one.
	return !errors.Is(err, wire.ErrMagic) && !errors.Is(err, wire.ErrVersion)
}

// errEnd ends a session whose last answer was sent.
var errEnd = errors.New("end of session")

// route has the owner of what a frame is about answer it, or returns why it is refused.
func (c *session) route(f *wire.Frame, fds wire.Descriptors) error {
	p, err := c.ask(f, fds)
	if err != nil || p == nil { // nil: a goroutine answers
		return err
	}
	return c.Reply(f, p)
}

// ask is route for everything but evaluations. Without an error, a nil payload means
// that a goroutine answers.
func (c *session) ask(f *wire.Frame, fds wire.Descriptors) (wire.Payload, error) {
	if !c.admitted.Load() {
		if f.Kind == wire.KindStats { // which needs no place
			return c.stats(f.Payload)
		}
		if f.Kind != wire.KindHello {
			return nil, c.refuseHello(f, &ane.Error{Op: f.Kind.String(), Engine: Name, Err: ane.ErrDenied,
				Detail: "before the client has introduced itself", Hint: "send hello first"})
		}
		p, err := c.hello(f.Payload, fds)
		if err != nil {
			return nil, c.refuseHello(f, err)
		}
		return p, nil
	}
	return c.answer(f, fds)
}

// end gives back what the client had. The connection is closed.
func (c *session) end() error {
	c.cancel()
	c.compiles.work.Wait()
	if c.dev == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.conf.end)
	defer cancel()
	if err := c.dev.Close(ctx); err != nil {
		// The engine has not come back from a run. What it may touch stays open until then.
		c.log.Error("client's memory and programs are kept: the engine is stuck", "error", err)
		c.stuck.Go(func() {
			c.server.fail(c.peer, errors.Join(c.dev.Close(context.Background()), c.free()))
		})
		return err
	}
	return c.free()
}

// free gives back everything. The driver has ended its client, and so every chain ends.
func (c *session) free() error {
	c.calls.Wait()
	return c.has.Free()
}

// grant is what one client may do, and how.
type grant struct {
	admission.Rights
	mode numerics.Mode // the arithmetic of its programs
}

// bellWait is how long a thread sleeps at a bell before it polls. Frames and the end of the session wake it, so an idle
// broker stays idle. A hostile client can suppress the wake-up, and so delay the end of its session by up to bellWait.
const bellWait = 2 * time.Second

// openBell opens a client's bell, if its memory came beside its Hello.
func (c *session) openBell(fds wire.Descriptors) (err error) {
	switch len(fds) {
	case 0:
		return nil
	case 1:
		c.Bell, err = wire.OpenBell(fds[0])
		return err
	}
	return &wire.Error{Op: "receive", Kind: wire.KindHello, Err: wire.ErrDescriptors,
		Detail: fmt.Sprintf("%d beside hello", len(fds)), Hint: "send the memory of one bell, or nothing"}
}

// listen has the bell answered until it is closed: by the ringers, or by a goroutine of its own where that is one of
// few or the kernel cannot do better.
func (c *session) listen() {
	if n := c.conf.clients; n > 1 && n <= wire.MaxBells && wire.CanSleepAtBells() {
		c.ringers.add(c)
		return
	}
	c.ringer.Go(func() {
		buf := make([]byte, wire.MaxFrame)
		for {
			f, err := c.Bell.Receive(buf, bellWait)
			if !errors.Is(err, wire.ErrTimeout) && !c.rung(&f, err, nil) {
				return
			}
		}
	})
}

// rung answers an evaluation or a chain that came through the bell. It reports false when it was the last one. If
// others wait for r, another leader goes on while this one waits for the turn.
func (c *session) rung(f *wire.Frame, err error, r *ringers) bool {
	if errors.Is(err, wire.ErrClosed) {
		return false
	}
	if err == nil && f.Kind != wire.KindEvaluate && f.Kind != wire.KindChain {
		// Only evaluations are charged to a class, so anything else is an error.
		err = &wire.Error{Op: "answer the bell", Kind: f.Kind, Err: wire.ErrKind, Detail: "not what a bell is for",
			Hint: "send it over the socket"}
	}
	if !c.turn.TryLock() {
		if r != nil {
			r.hand()
		}
		c.turn.Lock()
	}
	more := c.reply(f, nil, err)
	c.turn.Unlock()
	if !more {
		_ = c.Conn.Close() // never fails
	}
	return more
}
