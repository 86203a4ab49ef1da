package broker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/logger"
)

// engine is a client of one broker after the other.
type engine struct {
	options Options
	info    ane.Info

	stop context.CancelFunc // ends attempts to reach a broker
	life context.Context

	shelf *shelf // of weights that programs share

	// turn holds a token while a broker is reached. It guards pace and failure.
	turn    chan struct{}
	pace    pace
	failure error // of giving back the links before now

	now    atomic.Pointer[link] // nil while there is none
	mu     sync.Mutex           // guards what follows, and the end of a link for those who count
	starts int
	past   wire.Traffic // of the links before now
}

// Open starts a private broker, or connects to the shared one of o.Path. The
// Engine is used as every other; its Close ends a private broker. What it sends
// and keeps:
//
//   - of each Block the descriptor, once, when it is bound first;
//   - of a program a copy of its text and of its weight files, in memfds that the broker reads. They stay until the
//     Executable is closed. Programs share the copy of a file of 64 KiB or more;
//   - of tensors nothing.
//
// The error matches ane.ErrUnavailable and says why and what to do, or
// ane.ErrDeadline when ctx ended first.
func Open(ctx context.Context, o Options) (ane.Engine, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if err := ctx.Err(); err != nil {
		return nil, ane.Deadline("open", Name, joinCause(ctx))
	}
	e := &engine{options: o.settled(), turn: make(chan struct{}, 1), shelf: newShelf(wire.MaxUpload)}
	e.life, e.stop = context.WithCancel(context.Background())
	l, err := e.link(ctx)
	if err != nil {
		return nil, errors.Join(failed(ctx, "open", o.Path, err), e.Close())
	}
	e.info = e.describe(l)
	return e, nil
}

// Info implements ane.Engine.
func (e *engine) Info() ane.Info { return e.info }

// describe is the engine that answers a link.
func (e *engine) describe(l *link) ane.Info {
	h := &l.hello
	return ane.Info{Name: Name, Chip: h.Chip, OSBuild: h.OSBuild, Numerics: h.Numerics,
		Sharing: "each surface is mapped by its descriptor in the broker's process"}
}

// link returns the connection to the broker. When there is none, one attempt is made for all callers, and goes on when
// they stop waiting.
func (e *engine) link(ctx context.Context) (*link, error) {
	if l := e.live(); l != nil {
		return l, nil
	}
	return inTurn(ctx, e.turn, e.replace)
}

// live is the present link, nil if it is over.
func (e *engine) live() *link {
	if l := e.now.Load(); l != nil && !l.over.Load() {
		return l
	}
	return nil
}

// replace reaches a broker, in turn, unless another caller has. It ends within Options.Patience after the pause that
// is due, and at once when the engine closes.
func (e *engine) replace() (*link, error) {
	l := e.live()
	switch {
	case e.life.Err() != nil:
		return nil, notSent(errEngineClosed)
	case l != nil:
		return l, nil
	}
	if err := e.pace.refusal(time.Now()); err != nil {
		return nil, err
	}
	select {
	case <-time.After(e.pace.take(time.Now())):
	case <-e.life.Done():
		return nil, notSent(errEngineClosed)
	}
	e.retire()
	ctx, cancel := e.patientWithin(e.life)
	defer cancel()
	l, err := e.reach(ctx)
	e.pace.ended(time.Now(), err)
	log := logger.With(e.options.Logger, "path", e.options.Path)
	if err != nil {
		go log.Warn("broker not reached", "error", err) // a handler may call the engine
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now.Store(l)
	if e.starts++; e.starts > 1 {
		go log.Warn("broker lost and replaced", "starts", e.starts)
	} else {
		go log.Info("broker reached")
	}
	return l, nil
}

// retire waits until a link that is over has given everything back, in turn.
func (e *engine) retire() {
	l := e.now.Load()
	if l == nil {
		return
	}
	<-l.buried
	e.failure = errors.Join(e.failure, l.failure)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.past = e.past.Plus(l.traffic())
	e.now.Store(nil)
}

// traffic counts what went over all links.
func (e *engine) traffic() wire.Traffic {
	e.mu.Lock()
	defer e.mu.Unlock()
	if l := e.now.Load(); l != nil {
		return e.past.Plus(l.traffic())
	}
	return e.past
}

// patient is a context with the end that calls without one have.
func (e *engine) patient() (context.Context, context.CancelFunc) {
	return e.patientWithin(context.Background())
}

func (e *engine) patientWithin(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, e.options.Patience,
		fmt.Errorf("no answer from the broker within %v, it may be frozen", e.options.Patience))
}

// Close implements ane.Engine. It ends a private broker and waits until it is
// gone; the connection to a shared one is closed.
func (e *engine) Close() error {
	e.stop()
	e.turn <- struct{}{}
	defer func() { <-e.turn }()
	if l := e.now.Load(); l != nil {
		l.close(errEngineClosed, e.options.Patience)
	}
	e.retire()
	if e.failure == nil {
		return nil
	}
	return &ane.Error{Op: "close", Engine: Name, Err: ane.Because(ane.ErrEngine, e.failure)}
}

// reach starts or finds a broker and has it greet.
func (e *engine) reach(ctx context.Context) (*link, error) {
	if err := Probe(); err != nil {
		return nil, unreachable("open", e.options.Path, err)
	}
	bell, memory, err := wire.NewBell()
	if err != nil {
		return nil, unreachable("open", e.options.Path, err)
	}
	defer memory.Close()
	var c *child
	var fd int
	if e.options.Path == "" {
		c, fd, err = startChild(ctx, e.options)
	} else {
		fd, err = dial(ctx, e.options.Path)
	}
	var conn *wire.Conn
	if err == nil {
		conn, err = newConn(fd)
	}
	if err != nil {
		return nil, errors.Join(unreachable("open", e.options.Path, err), c.stop(0), bell.Close())
	}
	l := newLink(conn, c, bell)
	if err := e.greet(ctx, l, int(memory.Fd())); err != nil {
		l.close(err, 0)
		<-l.buried
		return nil, err
	}
	return l, nil
}

// greet is the first exchange. A broker that comes later has to be like the first,
// which receipts speak of.
func (e *engine) greet(ctx context.Context, l *link, bell int) error {
	exe, _ := os.Executable() // only for logs
	hello := &wire.Hello{Version: wire.Version, Numerics: uint32(e.options.Numerics), Executable: exe}
	reply, err := outlast(ctx, func() (reply wire.HelloReply, err error) {
		err = l.ask(wire.KindHello, hello, &reply, bell)
		return reply, err
	}, nil)
	path := e.options.Path
	switch {
	case gone(err):
		ended, _ := errors.AsType[*wire.Error](err)
		return unreachable("open", path, fmt.Errorf("it ended before it greeted: %w", ended.Cause))
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded): // or another program listens in its place
		return unreachable("open", path, context.Cause(ctx))
	case err != nil:
		return failed(ctx, "open", path, err)
	case reply.Version != wire.Version:
		return unreachable("open", path,
			fmt.Errorf("the broker speaks version %d, this program version %d", reply.Version, wire.Version))
	}
	l.hello = reply
	l.queue = make(chan struct{}, max(int(reply.Queued), 1))
	if now := e.describe(l); e.info != (ane.Info{}) && now != e.info {
		return &ane.Error{Op: "open", Engine: Name, Name: path,
			Err:    ane.Because(ane.ErrUnavailable, errors.New("the broker is not the one from before")),
			Detail: fmt.Sprintf("%+v, before %+v", now, e.info), Hint: "close the engine and open it again"}
	}
	return nil
}

// Starts of a broker are spaced out, so that one that cannot start or dies at once
// does not become an endless row of processes.
const (
	// burst is how many starts may follow each other without a pause. A broker that
	// keeps dying afterwards is started once every refill, as is one after a start that failed.
	burst  = 16
	refill = 250 * time.Millisecond
)

// pace decides when a broker may be started. Its owner locks it.
type pace struct {
	last error     // of the last start
	next time.Time // no start before, if the last has failed
	full time.Time // when all of burst is free again
}

// refusal is the error of a call that comes too early after a failed start, nil
// when a start may be tried. A call that finds a later time to be free waits.
func (p *pace) refusal(now time.Time) error {
	if now.Before(p.next) {
		return p.last
	}
	return nil
}

// take books a start and tells how long to wait before it.
func (p *pace) take(now time.Time) time.Duration {
	if p.full.Before(now) {
		p.full = now
	}
	p.full = p.full.Add(refill)
	return max(p.full.Sub(now)-burst*refill, 0)
}

// ended notes how a start went.
func (p *pace) ended(now time.Time, err error) { p.last, p.next = err, now.Add(refill) }
