package device

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/objcbridge"
)

// invocation is a request of the framework over wrapped surfaces.
type invocation struct {
	x        *executable
	tensors  []*ane.Tensor // inputs, then outputs
	blocks   []*block      // behind them
	inputs   int
	request  *objcbridge.Request // nil while shed; set before work or under mu
	surfaces []*surface          // inputs, then outputs; likewise

	work chan struct{} // starts a run in the background; nil until there was one
	back chan error    // its answer

	mu       sync.Mutex // guards what follows
	answered bool       // the run in the background has come back
	out      bool       // nobody waits for it any more
	closed   bool
	flying   bool // a run uses request and surfaces
	viewed   bool // a caller may look at the surfaces' bytes
}

// Prepare implements ane.Executable. It has no context, so it ends after
// Config.Patience; the Blocks stay held until a call that was given up comes back.
func (x *executable) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	v := &invocation{x: x, inputs: len(in), tensors: slices.Concat(in, out)}
	for _, t := range v.tensors {
		_ = t.Block().Retain() // cannot fail: the caller holds the Block
		v.blocks = append(v.blocks, t.Block())
	}
	ctx, cancel := x.engine.limited()
	defer cancel()
	late := func(err error) {
		if err == nil {
			v.end()
		}
		v.release()
	}
	stray, err := await(ctx, "bind", x.engine.cfg.Name, &x.strays, v.tie, late)
	if stray {
		return nil, err
	}
	v.release()
	if err != nil {
		return nil, err
	}
	x.engine.idle.add(v)
	return v, nil
}

// tie wraps the surfaces and makes the request; or leaves nothing behind.
func (v *invocation) tie() error {
	x := v.x
	reads, err := v.bind(v.tensors[:v.inputs], x.in)
	if err != nil {
		v.untie()
		return err
	}
	writes, err := v.bind(v.tensors[v.inputs:], x.out)
	if err != nil {
		v.untie()
		return err
	}
	v.request, err = x.program.NewRequest(x.procedure, reads, writes)
	if err == nil {
		return nil
	}
	v.untie()
	if refused(err, objcbridge.ReasonState) {
		return x.notLoaded("bind")
	}
	return x.engine.fault("bind", x.src.File, err)
}

// untie gives the request and the use of the surfaces back.
func (v *invocation) untie() {
	if v.request != nil {
		v.request.Close()
		v.request = nil
	}
	for _, s := range v.surfaces {
		s.leaveOut()
	}
	v.surfaces = nil
}

// release lets go of the Blocks once.
func (v *invocation) release() {
	for _, b := range v.blocks {
		b.Release()
	}
}

// bind wraps the surfaces of tensors.
func (v *invocation) bind(tensors []*ane.Tensor, ports []port) ([]objcbridge.Binding, error) {
	bound := make([]objcbridge.Binding, len(tensors))
	for i, t := range tensors {
		s, err := v.x.engine.surfaces.wrap(t.Block())
		if err != nil {
			return nil, err
		}
		bound[i] = objcbridge.Binding{Surface: s.wrapper, Index: ports[i].index, Bytes: ports[i].Bytes()}
		v.surfaces = append(v.surfaces, s)
	}
	return bound, nil
}

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

// InputView implements ane.Viewer, where the engine's memory can be seen.
func (v *invocation) InputView(i int) []byte { return v.view(i, v.x.in[i].Layout) }

// OutputView implements ane.Viewer.
func (v *invocation) OutputView(i int) []byte { return v.view(v.inputs+i, v.x.out[i].Layout) }

func (v *invocation) view(i int, l ane.Layout) []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.viewed { // a run that has request and surfaces made again may be doing so now
		if v.flying || v.request == nil && v.tie() != nil {
			return nil
		}
		v.viewed = true // the bytes stay where they are until Close
	}
	if i < len(v.surfaces) && v.surfaces[i].Bytes != nil {
		return v.surfaces[i].Bytes[:l.Bytes():l.Bytes()]
	}
	return nil
}

// Close implements ane.Invocation. A run that was given up keeps the request
// until it comes back.
func (v *invocation) Close() error {
	v.mu.Lock()
	v.closed = true
	out := v.out
	v.mu.Unlock()
	v.x.engine.idle.remove(v)
	if v.work != nil {
		close(v.work)
	}
	if !out {
		v.end()
	}
	return nil
}

// end gives the request and its surfaces back.
func (v *invocation) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.untie()
}
