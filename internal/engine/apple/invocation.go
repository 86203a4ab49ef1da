package apple

import (
	"slices"
	"sync"

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

// tie is tieOnce, and once more when surfaces have run out and idle invocations had some.
func (v *invocation) tie() error {
	err := v.tieOnce()
	if err != nil && exhausted(err) && v.x.engine.shed() > 0 {
		v.x.engine.recovering(err)
		err = v.tieOnce()
	}
	return err
}

// tieOnce wraps the surfaces and makes the request; or leaves nothing behind.
func (v *invocation) tieOnce() error {
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
