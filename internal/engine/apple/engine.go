package apple

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/driverabi"
	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/unimem"
)

// qos is the quality of service of every call: the default of the framework. No
// other value changed a measured latency, and real time needs an entitlement.
const qos = driverabi.QoSDefault

// Engine drives one framework. It implements ane.Engine.
type Engine struct {
	cfg      Config
	info     ane.Info
	bridge   *objcbridge.Bridge
	surfaces surfaces
	relock   bool         // surfaces are unlocked while a request runs
	undo     func() error // cfg.Close once there is something to undo

	seen   atomic.Pointer[witness] // of the known-answer program
	met    met                     // errors of the framework
	idle   invocations             // that may be shed
	forget func()                  // ends the registration with unimem

	mu     sync.Mutex
	spent  objcbridge.Usage // when Usage last looked
	users  int              // programs that are not released, abandoned ones included
	closed bool
	ended  chan error // what end returned to the program that was the last
}

// Open loads the framework, checks it, and runs a program with a known answer.
// The error matches ane.ErrUnavailable when this machine or this version of the
// framework cannot serve; ane.ErrDeadline when ctx ended first.
func Open(ctx context.Context, c Config) (*Engine, error) {
	if c.Surface == nil {
		c.Surface = ownSurface
	}
	e := &Engine{cfg: c, ended: make(chan error, 1)}
	e.surfaces = surfaces{engine: e, open: map[*block]*surface{}}
	e.forget = unimem.OnExhausted(e.shed)
	var calls strays
	calls.end = func() { _ = e.Close() } // nobody is left to hear of it
	_, err := await(ctx, "open", c.Name, &calls, e.open, func(error) {})
	if err == nil {
		err = e.prove(ctx)
	}
	if c.Observe != nil {
		c.Observe(e.seen.Load().tell(), e.Met())
	}
	if err == nil {
		return e, nil
	}
	if calls.close() {
		if fault := e.shut(0); fault != nil && ctx.Err() == nil {
			err = errors.Join(err, fault)
		}
	}
	if errors.Is(err, ane.ErrUnavailable) {
		return nil, err
	}
	return nil, &ane.Error{Op: "open", Engine: c.Name, Err: ane.Because(ane.ErrUnavailable, err)}
}

// open loads and checks the framework.
func (e *Engine) open() error {
	if e.cfg.Open != nil {
		if err := e.cfg.Open(); err != nil {
			return err
		}
	}
	e.undo = e.cfg.Close
	b, err := objcbridge.Open(e.cfg.Bridge)
	if err != nil {
		if errors.Is(err, objcbridge.ErrBridgeUnavailable) {
			return &ane.Error{Op: "open", Engine: e.cfg.Name, Err: ane.Because(ane.ErrUnavailable, err)}
		}
		return e.fault("open", "", err)
	}
	e.bridge = b
	d, err := b.Device()
	if err != nil {
		return e.fault("open", "", err)
	}
	if d.HasANE == objcbridge.AnswerNo {
		return &ane.Error{Op: "open", Engine: e.cfg.Name, Err: ane.ErrUnavailable,
			Detail: "the framework says that this machine has no Neural Engine", Hint: "virtual machines have none"}
	}
	e.info = ane.Info{Name: e.cfg.Name, Chip: d.Architecture, OSBuild: d.Build, Numerics: e.cfg.Numerics,
		Sharing: e.cfg.Sharing}
	return nil
}

// Info implements ane.Engine.
func (e *Engine) Info() ane.Info { return e.info }

// Usage returns what this process has spent of what the framework grants it; after
// Close what it was then.
func (e *Engine) Usage() objcbridge.Usage {
	e.mu.Lock() // the bridge does not close during a call
	defer e.mu.Unlock()
	if !e.closed {
		e.spent = e.bridge.Usage()
	}
	return e.spent
}

// Relocks reports whether surfaces are unlocked while a request runs, because the
// known-answer run failed on locked ones.
func (e *Engine) Relocks() bool { return e.relock }

// hold counts a program, unless the engine is closed; drop ends it and, after Close,
// the engine with the last.
func (e *Engine) hold() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return &ane.Error{Op: "compile", Engine: e.cfg.Name, Err: ane.ErrClosed, Hint: "open the engine again"}
	}
	e.users++
	return nil
}

func (e *Engine) drop() {
	e.mu.Lock()
	e.users--
	if !e.closed || e.users > 0 {
		e.mu.Unlock()
		return
	}
	e.mu.Unlock()
	e.ended <- e.end()
}

// Close implements ane.Engine. It waits for calls that were given up; when they
// do not come back in time it returns an error matching ane.ErrStuck, and the
// engine ends when they do.
func (e *Engine) Close() error { return e.shut(cmp.Or(e.cfg.Patience, patience)) }

// shut is Close that waits no longer than limit.
func (e *Engine) shut(limit time.Duration) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	if e.bridge != nil {
		e.spent = e.bridge.Usage()
	}
	e.closed = true
	busy := e.users > 0
	e.mu.Unlock()
	if !busy {
		return e.end()
	}
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case err := <-e.ended:
		return err
	case <-t.C:
		return &ane.Error{Op: "close", Engine: e.cfg.Name, Err: ane.ErrStuck,
			Hint: "the engine ends when the call comes back"}
	}
}

// end lets go of everything.
func (e *Engine) end() error {
	e.forget()
	errs := []error{e.surfaces.close()}
	if e.bridge != nil {
		errs = append(errs, e.fault("close", "", e.bridge.Close()))
	}
	if e.undo != nil {
		errs = append(errs, e.undo())
	}
	return errors.Join(errs...)
}

// limited is a context for calls whose callers have none.
func (e *Engine) limited() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), cmp.Or(e.cfg.Patience, patience))
}
