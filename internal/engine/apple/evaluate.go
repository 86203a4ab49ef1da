package apple

import (
	"context"
	"errors"
	"time"

	"github.com/anekit/anekit/ane"
)

// Evaluate implements ane.Invocation. What the engine cancels is sent again, up to 8
// times with 3 ms between: on an M3 Ultra 114 of 120 runs were cancelled at first, and
// none that was sent again like this. What fails for want of memory or surfaces is sent
// again once idle invocations have given theirs back.
func (v *invocation) Evaluate(ctx context.Context) error {
	err := v.once(ctx)
	for tries := 0; err != nil && cancelled(err) && tries < 8 && sleep(ctx, 3*time.Millisecond); tries++ {
		v.x.engine.recovering(err)
		err = v.once(ctx)
	}
	if err != nil && exhausted(err) && v.x.engine.shed() > 0 {
		v.x.engine.recovering(err)
		err = v.once(ctx)
	}
	return err
}

// once is Evaluate without a second try.
func (v *invocation) once(ctx context.Context) error {
	x := v.x
	if err := ctx.Err(); err != nil {
		return ane.Deadline("evaluate", x.engine.cfg.Name, err)
	}
	if err := x.strays.wait(ctx, "evaluate", x.engine.cfg.Name); err != nil {
		return err
	}
	if !x.loaded {
		return x.notLoaded("evaluate")
	}
	if ctx.Done() == nil && !x.engine.cfg.Async {
		return v.run()
	}
	if err := room("evaluate", x.engine.cfg.Name); err != nil {
		return err
	}
	v.begin()
	select {
	case err := <-v.back:
		return err
	case <-ctx.Done():
	}
	if v.giveUp() {
		return ane.Deadline("evaluate", x.engine.cfg.Name, ctx.Err())
	}
	return <-v.back
}

// take keeps request and surfaces for a run, and makes them again after a shed.
func (v *invocation) take() error {
	v.mu.Lock()
	v.flying = true
	ready := v.request != nil
	v.mu.Unlock()
	if ready {
		return nil
	}
	return v.tie()
}

// put ends take.
func (v *invocation) put() {
	v.mu.Lock()
	v.flying = false
	v.mu.Unlock()
}

// run evaluates and blocks until the framework returns.
func (v *invocation) run() error {
	if err := v.take(); err != nil {
		v.put()
		return err
	}
	defer v.put()
	if err := v.enter(); err != nil {
		return err
	}
	err := v.request.Evaluate(v.x.program, qos)
	return v.leave(err)
}

// enter gives up the CPU's locks, where the engine needs that.
func (v *invocation) enter() error {
	if !v.x.engine.relock {
		return nil
	}
	for i, s := range v.surfaces {
		if err := s.enter(); err != nil {
			errs := []error{v.x.engine.fault("evaluate", "", err)}
			for _, s := range v.surfaces[:i] {
				errs = append(errs, v.x.engine.fault("evaluate", "", s.leave()))
			}
			return errors.Join(errs...)
		}
	}
	return nil
}

// leave takes the locks back and completes the error of a run.
func (v *invocation) leave(err error) error {
	e := v.x.engine
	if err != nil {
		err = e.fault("evaluate", v.x.src.File, err)
	}
	if !e.relock {
		return err
	}
	for _, s := range v.surfaces {
		if fault := s.leave(); fault != nil {
			err = errors.Join(err, e.fault("evaluate", "", fault))
		}
	}
	return err
}

// begin starts a run in the background; finish follows, in another goroutine.
func (v *invocation) begin() {
	v.mu.Lock()
	v.answered = false
	v.mu.Unlock()
	if v.back == nil {
		v.back = make(chan error, 1)
	}
	if v.x.engine.cfg.Async {
		v.start()
		return
	}
	if v.work == nil {
		v.work = make(chan struct{})
		go v.worker(v.work)
	}
	v.work <- struct{}{}
}

// worker runs what begin asks for, until Close.
func (v *invocation) worker(work <-chan struct{}) {
	for range work {
		v.finish(v.run())
	}
}

// start has the framework call back at the end of the run.
func (v *invocation) start() {
	err := v.take()
	if err == nil {
		err = v.enter()
	}
	if err == nil {
		_, err = v.request.Start(v.x.program, qos, func(err error) { v.finish(v.leave(err)) })
		if err == nil {
			return
		}
		err = v.leave(err)
	}
	v.finish(err)
}

// finish hands over the answer of a run, or lets go of what it used when nobody
// waits.
func (v *invocation) finish(err error) {
	v.mu.Lock()
	v.answered, v.flying = true, false
	stray, closed := v.out, v.closed
	v.out = false
	v.mu.Unlock()
	if !stray {
		v.back <- err
		return
	}
	v.release()
	if closed {
		v.end()
	}
	v.x.strays.done()
}

// giveUp stops waiting for a run, whose Blocks stay held until it comes back. It
// reports false when the answer is there.
func (v *invocation) giveUp() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.answered {
		return false
	}
	v.out = true
	for _, b := range v.blocks {
		_ = b.Retain() // cannot fail: the Request holds the Block
	}
	v.x.strays.add()
	return true
}
