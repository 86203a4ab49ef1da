package wasm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/anekit/anekit/internal/errtext"
)

// calls makes the calls of a guest and ends those that take too long. A call reads no clock and sets no timer: a watch
// looks every sixteenth of Limits.Time whether the same call still runs. It rests when it finds none.
type calls struct {
	guest    *Guest
	code     *Binary
	entries  map[string]*entry // by export
	last     *entry
	entrance api.Module // nil: entries are the guest's own exports
	follows  *follower  // of the last call's context; nil if it cannot end

	count   uint64                      // of calls
	context atomic.Pointer[callContext] // of the running or last call

	// running is the number of the running call, 0 between calls. end or stop sets it to 0, and that one decides how the
	// call has ended.
	running atomic.Uint64
	closing atomic.Bool

	watching atomic.Bool // the watch does not rest; the goroutine that changes it has what follows
	watch    *time.Timer
	seen     uint64 // running at the last look
	since    time.Time
}

// callContext is the context of the functions that a guest calls in one call. It takes a timer only when a function
// waits. The next call has the same one, unless a function may have kept it.
type callContext struct {
	context.Context // of the caller
	guest           *Guest
	number          uint64
	lent            bool // to a Function of the host
	bound           atomic.Pointer[bound]
}

// bound is a context that ends with Limits.Time and with its call.
type bound struct {
	context.Context
	cancel context.CancelFunc
}

func (c *callContext) bounded() *bound {
	if b := c.bound.Load(); b != nil {
		return b
	}
	ctx, cancel := context.WithTimeout(c.Context, c.guest.limits.Time)
	if !c.bound.CompareAndSwap(nil, &bound{ctx, cancel}) {
		cancel()
	} else if c.guest.calls.running.Load() != c.number {
		cancel() // the call has ended; if it ends later it finds bound
	}
	return c.bound.Load()
}

// Done implements context.Context.
func (c *callContext) Done() <-chan struct{} { return c.bounded().Done() }

// Err implements context.Context.
func (c *callContext) Err() error { return c.bounded().Err() }

// Deadline implements context.Context.
func (c *callContext) Deadline() (time.Time, bool) { return c.bounded().Deadline() }

// Value implements context.Context.
func (c *callContext) Value(key any) any {
	if key == (guestKey{}) {
		return c.guest
	}
	return c.Context.Value(key)
}

// cancel ends the context.
func (c *callContext) cancel() {
	if b := c.bound.Load(); b != nil {
		b.cancel()
	}
}

// Call calls an export with parameters as wazero encodes them (api.EncodeI32 and others), and returns its results. It
// ends with ctx, and after Limits.Time or at most a sixteenth later, also in an endless loop.
//
// Errors: ErrExport, ErrClosed, and those after which the guest takes no further calls: ErrTrap, ErrExit, ErrTime. Then
// the runs of the guest were canceled and have ended, and its objects are closed.
func (g *Guest) Call(ctx context.Context, name string, args ...uint64) ([]uint64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return nil, &Error{Base: errtext.Base{Op: "call", Err: ErrClosed}, Name: name}
	case g.failed != nil:
		return nil, g.failed
	case ctx.Err() != nil:
		return nil, &Error{Base: errtext.Base{Op: "call", Err: ErrTime, Cause: ctx.Err()}, Name: name}
	}
	f := g.entry(name)
	switch {
	case f == nil:
		return nil, &Error{Base: errtext.Base{Op: "call", Err: ErrExport, Hint: "the guest has to export it"},
			Name: name}
	case f.params != len(args):
		return nil, &Error{Base: errtext.Base{Op: "call", Err: ErrExport,
			Detail: fmt.Sprintf("%d parameters, the call has %d", f.params, len(args))}, Name: name}
	}
	run := g.calls.begin(ctx)
	copy(f.stack, args)
	err := f.CallWithStack(run, f.stack)
	if !g.calls.end(run) && err == nil && !g.host.config.endless {
		err = sys.NewExitError(sys.ExitCodeDeadlineExceeded) // stopped as it returned
	}
	if err != nil {
		g.failed = g.ended("call", name, err)
		return nil, errors.Join(g.failed, g.end(ctx))
	}
	return append([]uint64(nil), f.stack[:f.results]...), nil
}

// begin begins a call. The caller holds the guest's mu.
func (c *calls) begin(ctx context.Context) *callContext {
	if c.follows.done() != ctx.Done() {
		c.follow(ctx)
	}
	run := c.context.Load()
	if run == nil || run.lent || run.bound.Load() != nil || c.entrance == nil { // wazero may keep it without an entrance
		run = &callContext{guest: c.guest}
		c.context.Store(run)
	}
	c.count++
	run.Context, run.number = ctx, c.count
	c.running.Store(run.number)
	if !c.watching.Load() && c.watching.CompareAndSwap(false, true) {
		c.seen, c.since = run.number, time.Now()
		c.again()
	}
	if c.closing.Load() || c.follows.ended() { // before the call was running, and so could not stop it
		c.stop(run.number)
	}
	return run
}

// end ends a call. It reports false if the call was stopped.
func (c *calls) end(run *callContext) bool {
	inTime := c.running.CompareAndSwap(run.number, 0)
	run.cancel()
	return inTime
}

// stop stops a call if it still runs; 0 is none.
func (c *calls) stop(number uint64) {
	run := c.context.Load() // of the call, if that runs until the exchange
	if number == 0 || !c.running.CompareAndSwap(number, 0) {
		return
	}
	if c.entrance != nil {
		_ = c.entrance.CloseWithExitCode(context.Background(), sys.ExitCodeDeadlineExceeded) // its memory is the guest's
	}
	run.cancel()
}

// again sets the watch for the next look.
func (c *calls) again() {
	limit := c.guest.limits.Time
	next := min(max(limit/16, time.Millisecond), max(limit-time.Since(c.since), 0))
	if c.watch == nil {
		c.watch = time.AfterFunc(math.MaxInt64, c.look)
	}
	c.watch.Reset(next)
}

// look stops a call that has run for Limits.Time.
func (c *calls) look() {
	run := c.running.Load()
	if run == 0 {
		c.watching.Store(false)
		if run = c.running.Load(); run == 0 || !c.watching.CompareAndSwap(false, true) {
			return // the next call sets the watch
		}
	}
	if run != c.seen {
		c.seen, c.since = run, time.Now()
	} else if time.Since(c.since) >= c.guest.limits.Time {
		c.stop(run)
	}
	c.again()
}

// close ends the running call, and those that begin before the guest is closed.
func (c *calls) close() {
	c.closing.Store(true)
	c.stop(c.running.Load())
}

// free frees what calls had. The caller holds the guest's mu.
func (c *calls) free(ctx context.Context) error {
	c.follow(context.Background())
	if c.watch != nil {
		c.watch.Stop() // else it rests at its next look
	}
	if c.entrance == nil {
		return nil
	}
	return c.entrance.Close(ctx)
}

// follower stops calls when their context ends. Further calls with the same context have the same one.
type follower struct {
	ctx    context.Context
	over   atomic.Bool // a call with another context has begun
	cancel func() bool
}

func (f *follower) done() <-chan struct{} {
	if f == nil {
		return nil
	}
	return f.ctx.Done()
}

func (f *follower) ended() bool { return f != nil && f.ctx.Err() != nil }

// follow begins to follow another context.
func (c *calls) follow(ctx context.Context) {
	if f := c.follows; f != nil {
		f.over.Store(true)
		f.cancel()
		c.follows = nil
	}
	if ctx.Done() == nil {
		return
	}
	f := &follower{ctx: ctx}
	f.cancel = context.AfterFunc(ctx, func() {
		if run := c.running.Load(); !f.over.Load() {
			c.stop(run)
		}
	})
	c.follows = f
}
