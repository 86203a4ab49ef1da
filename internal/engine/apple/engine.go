package apple

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/unimem"
)

// qos is the quality of service of every call: the framework's default. No other
// value changed a measured latency, and real time needs an entitlement.
const qos = driverabi.QoSDefault

// Engine drives one framework. It implements ane.Engine.
type Engine struct {
	cfg      Config
	info     ane.Info
	bridge   *objcbridge.Bridge
	surfaces surfaces
	relock   bool         // surfaces are unlocked while a request runs: the known-answer run failed on locked ones
	onClose  func() error // cfg.Close, after cfg.Open has succeeded

	seen       atomic.Pointer[observation] // facts about the known-answer program
	errors     errorLog                    // the framework's errors
	packs      atomic.Bool                 // the framework has refused several weight files, and took them as one
	idle       sync.Map                    // of *invocation: those whose requests shed may close
	unregister func()                      // removes shed from unimem

	joining sync.Mutex // held while join looks for a program to share; before mu

	mu     sync.Mutex
	spent  objcbridge.Usage // result of the last Usage
	users  int              // executables not yet released, including those of abandoned calls
	shared []*program       // those with several functions
	closed bool
	ended  chan error // result of closeAll when the last program called it
}

// Open loads and checks the framework and runs a program with a known answer. The
// error matches ane.ErrUnavailable if this machine or this version of the framework
// is unsupported, and ane.ErrDeadline if ctx ended first.
func Open(ctx context.Context, c Config) (*Engine, error) {
	if c.Surface == nil {
		c.Surface = ownSurface
	}
	if c.Pause == nil {
		c.Pause = Pause
	}
	e := &Engine{cfg: c, ended: make(chan error, 1)}
	e.surfaces = surfaces{engine: e, open: map[*block]*surface{}}
	e.unregister = unimem.OnExhausted(e.shed)
	var calls abandonedCalls
	calls.release = func() { _ = e.Close() } // Open has returned: no caller can get the error
	_, err := await(ctx, "open", c.Name, &calls, e.open, func(error) {})
	if err == nil {
		err = e.probe(ctx)
	}
	if c.Observe != nil {
		c.Observe(e.seen.Load().get(), e.Met())
	}
	if err == nil {
		return e, nil
	}
	if calls.close() {
		if fault := e.closeWithin(0); fault != nil && ctx.Err() == nil {
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
	e.onClose = e.cfg.Close
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
			Detail: "the framework reports no Neural Engine in this machine", Hint: "virtual machines have none"}
	}
	if err := e.checkFolder(); err != nil {
		return err
	}
	e.info = ane.Info{Name: e.cfg.Name, Chip: d.Architecture, OSBuild: d.Build, Numerics: e.cfg.Numerics,
		Sharing: e.cfg.Sharing, MinSurface: minSurface}
	return nil
}

// checkFolder returns an error if the framework would refuse every program because of its folder.
func (e *Engine) checkFolder() error {
	f, err := e.bridge.Folders()
	if err != nil {
		return e.fault("open", "", err)
	}
	if !f.Verifies || !f.Foreign {
		return nil
	}
	return &ane.Error{Op: "open", Engine: e.cfg.Name, Err: ane.ErrUnavailable,
		Detail: fmt.Sprintf("the files of programs would be in %s, and this user's folder is %s", f.Process, f.User),
		Rule: "from macOS 27 on the framework compiles only what is directly in the user's own folder for temporary " +
			"files",
		Hint: "unset TMPDIR"}
}

// Info implements ane.Engine.
func (e *Engine) Info() ane.Info { return e.info }

// Usage returns how much of the framework's limits this process has used. After
// Close it returns the state at Close.
func (e *Engine) Usage() objcbridge.Usage {
	e.mu.Lock() // the bridge does not close during a call
	defer e.mu.Unlock()
	if !e.closed {
		e.spent = e.bridge.Usage()
	}
	return e.spent
}

// release removes a user of the engine; join adds one. After Close, the last one closes the engine.
func (e *Engine) release() {
	e.mu.Lock()
	e.users--
	if !e.closed || e.users > 0 {
		e.mu.Unlock()
		return
	}
	e.mu.Unlock()
	e.ended <- e.closeAll()
}

// Close implements ane.Engine. It waits for abandoned calls. If they do not return
// in time, Close returns an error matching ane.ErrStuck, and the engine is closed
// after they return.
func (e *Engine) Close() error { return e.closeWithin(cmp.Or(e.cfg.Patience, patience)) }

// closeWithin is Close with a time limit.
func (e *Engine) closeWithin(limit time.Duration) error {
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
		return e.closeAll()
	}
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case err := <-e.ended:
		return err
	case <-t.C:
		return &ane.Error{Op: "close", Engine: e.cfg.Name, Err: ane.ErrStuck,
			Hint: "the engine closes after the call returns"}
	}
}

// closeAll releases surfaces and bridge.
func (e *Engine) closeAll() error {
	e.unregister()
	errs := []error{e.surfaces.close()}
	if e.bridge != nil {
		errs = append(errs, e.fault("close", "", e.bridge.Close()))
	}
	if e.onClose != nil {
		errs = append(errs, e.onClose())
	}
	return errors.Join(errs...)
}

// patience returns how long a call waits for other processes that compile or load the same program. It ends before
// ctx, so that the caller gets the error that names them.
func (e *Engine) patience(ctx context.Context) time.Duration {
	end, bounded := ctx.Deadline()
	if !bounded {
		return cmp.Or(e.cfg.Patience, patience)
	}
	left := time.Until(end)
	return max(0, left-left/8)
}

// limited returns a context for calls that have none.
func (e *Engine) limited() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), cmp.Or(e.cfg.Patience, patience))
}
