package broker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/anekit/anekit/ane"
)

// engine is a client of one broker after the other.
type engine struct {
	options Options
	info    ane.Info

	stop context.CancelFunc // ends attempts to reach a broker
	life context.Context

	shelf shelf // of weights that programs share

	mu       sync.Mutex
	now      *session // the newest
	sessions []*session
	attempt  *attempt // that is being made
	pace     pace
	counters Counters // of sessions that are buried
	closed   bool
}

// attempt is one try to get a session, for all callers that wait for one.
type attempt struct {
	done    chan struct{} // closed when the rest is set
	session *session
	err     error
}

// Info implements ane.Engine.
func (e *engine) Info() ane.Info { return e.info }

// Counts returns the counters of an Engine that Open returned; ok is false for
// any other engine.
func Counts(x ane.Engine) (c Counters, ok bool) {
	e, ok := x.(*engine)
	if !ok {
		return Counters{}, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sweep()
	c = e.counters
	for _, s := range e.sessions {
		c.add(s)
	}
	return c, true
}

// add counts what went over the session.
func (c *Counters) add(s *session) {
	t := s.traffic()
	c.Frames += int64(t.FramesOut)
	c.Bytes += int64(t.BytesOut)
	c.Received += int64(t.BytesIn)
	if s.lostItself() {
		c.Lost++
	}
}

// sweep forgets the sessions that are buried. The caller holds mu.
func (e *engine) sweep() {
	kept := e.sessions[:0]
	for _, s := range e.sessions {
		select {
		case <-s.buried:
			e.counters.add(s)
		default:
			kept = append(kept, s)
		}
	}
	clear(e.sessions[len(kept):])
	e.sessions = kept
}

// session returns the connection to the broker. When there is none, one attempt
// is made for all callers, and goes on when they stop waiting.
func (e *engine) session(ctx context.Context) (*session, error) {
	e.mu.Lock()
	switch {
	case e.closed:
		e.mu.Unlock()
		return nil, notSent(errEngineClosed)
	case e.now != nil && !e.now.over.Load():
		defer e.mu.Unlock()
		return e.now, nil
	}
	a := e.attempt
	if a == nil {
		if err := e.pace.refusal(time.Now()); err != nil {
			e.mu.Unlock()
			return nil, err
		}
		a = &attempt{done: make(chan struct{})}
		e.attempt = a
		go e.try(a, e.pace.take(time.Now()))
	}
	e.mu.Unlock()
	select {
	case <-a.done:
		return a.session, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// try makes the attempt after a pause. It ends within Options.Patience after
// that, and at once when the engine closes.
func (e *engine) try(a *attempt, pause time.Duration) {
	t := time.NewTimer(pause)
	select {
	case <-t.C:
	case <-e.life.Done():
		t.Stop()
	}
	ctx, cancel := e.patient(e.life)
	defer cancel()
	a.session, a.err = e.reach(ctx)

	starts := int64(0)
	defer func() { e.report(starts, a.err) }() // after mu is free: a handler may call the engine
	e.mu.Lock()
	defer e.mu.Unlock()
	defer close(a.done)
	e.attempt = nil
	e.pace.ended(time.Now(), a.err)
	if a.err != nil {
		return
	}
	e.sweep()
	e.counters.Starts++
	starts = e.counters.Starts
	e.now = a.session
	e.sessions = append(e.sessions, a.session)
}

// report logs how an attempt went.
func (e *engine) report(starts int64, err error) {
	switch log := e.options.Logger; {
	case errors.Is(err, errEngineClosed):
	case err != nil:
		log.Warn("broker not reached", "path", e.options.Path, "error", err)
	case starts > 1:
		log.Warn("broker lost and replaced", "path", e.options.Path, "starts", starts)
	default:
		log.Info("broker reached", "path", e.options.Path)
	}
}

// patient is ctx with the end that calls without a context have.
func (e *engine) patient(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, e.options.Patience,
		fmt.Errorf("no answer from the broker within %v, it may be frozen", e.options.Patience))
}

// Close implements ane.Engine. It ends a private broker and waits until it is
// gone; the connection to a shared one is closed.
func (e *engine) Close() error {
	e.mu.Lock()
	e.closed = true
	a := e.attempt
	e.mu.Unlock()
	e.stop()
	if a != nil {
		<-a.done
	}
	e.mu.Lock()
	all := e.sessions
	e.mu.Unlock()
	var errs []error
	for _, s := range all {
		s.close(errEngineClosed, e.options.Patience)
		<-s.buried
		if s.failure != nil {
			errs = append(errs, &ane.Error{Op: "close", Engine: Name, Err: ane.Because(ane.ErrEngine, s.failure)})
		}
	}
	return errors.Join(errs...)
}
