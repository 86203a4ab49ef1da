package device

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/objcbridge"
)

// invocation is a request of the framework over wrapped surfaces.
type invocation struct {
	x        *executable
	request  *objcbridge.Request
	surfaces []*surface // inputs, then outputs
	blocks   []*block   // behind them
	inputs   int

	work chan struct{} // starts a run in the background; nil until there was one
	back chan error    // its answer

	mu       sync.Mutex // guards what follows
	answered bool       // the run in the background has come back
	out      bool       // nobody waits for it any more
	closed   bool
}

// Prepare implements ane.Executable. It has no context, so it ends after
// Config.Patience; the Blocks stay held until a call that was given up comes back.
func (x *executable) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	v := &invocation{x: x, inputs: len(in)}
	for _, t := range slices.Concat(in, out) {
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
	stray, err := await(ctx, "bind", x.engine.cfg.Name, &x.strays, func() error { return v.prepare(in, out) }, late)
	if stray {
		return nil, err
	}
	v.release()
	if err != nil {
		return nil, err
	}
	return v, nil
}

// prepare wraps the surfaces and makes the request.
func (v *invocation) prepare(in, out []*ane.Tensor) error {
	x := v.x
	reads, err := v.bind(in, x.in)
	if err != nil {
		return err
	}
	writes, err := v.bind(out, x.out)
	if err != nil {
		return err
	}
	v.request, err = x.program.NewRequest(x.procedure, reads, writes)
	if refused(err, objcbridge.ReasonState) {
		return x.notLoaded("bind")
	}
	return x.engine.fault("bind", x.src.File, err)
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
		bound[i] = objcbridge.Binding{Surface: s.wrapper, Index: ports[i].index}
		v.surfaces = append(v.surfaces, s)
	}
	return bound, nil
}

// Evaluate implements ane.Invocation.
func (v *invocation) Evaluate(ctx context.Context) error {
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

// run evaluates and blocks until the framework returns.
func (v *invocation) run() error {
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
	err := v.enter()
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
	v.answered = true
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
	if b := v.surfaces[i].Bytes; b != nil {
		return b[:l.Bytes():l.Bytes()]
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
	if v.work != nil {
		close(v.work)
	}
	if !out {
		v.end()
	}
	return nil
}

// end gives the request back.
func (v *invocation) end() { v.request.Close() }
