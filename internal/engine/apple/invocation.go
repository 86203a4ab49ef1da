package apple

import (
	"slices"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/objcbridge"
)

// invocation is a request of the framework with wrapped surfaces.
type invocation struct {
	x        *executable
	tensors  []*ane.Tensor // inputs, then outputs
	blocks   []*block      // the tensors' Blocks
	inputs   int
	request  *objcbridge.Request // nil after shed; set before a run starts or under mu
	surfaces []*surface          // inputs, then outputs; set with request

	work   chan struct{} // starts a run in the background; nil before the first
	result chan error    // its result

	mu        sync.Mutex // guards the fields below
	returned  bool       // the background run has returned
	abandoned bool       // the caller stopped waiting for the background run
	closed    bool
	inFlight  bool // a run uses request and surfaces
	viewed    bool // a caller may read the surfaces' bytes
}

// Prepare implements ane.Executable. It has no context and times out after Config.Patience. An
// abandoned call holds the Blocks until it returns.
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
			v.discard()
		}
		v.releaseBlocks()
	}
	abandoned, err := await(ctx, "bind", x.engine.cfg.Name, &x.abandoned, v.makeRequest, late)
	if abandoned {
		return nil, err
	}
	v.releaseBlocks()
	if err != nil {
		return nil, err
	}
	x.engine.idle.Store(v, nil)
	return v, nil
}

// makeRequest is makeRequestOnce with one retry if surfaces are exhausted and idle invocations
// release some.
func (v *invocation) makeRequest() error {
	err := v.makeRequestOnce()
	if err != nil && exhausted(err) && v.x.engine.shed() > 0 {
		v.x.engine.errors.recovered(err)
		err = v.makeRequestOnce()
	}
	return err
}

// makeRequestOnce wraps the surfaces and makes the request. On failure it releases everything.
func (v *invocation) makeRequestOnce() error {
	x := v.x
	reads, err := v.bind(v.tensors[:v.inputs], x.in)
	if err != nil {
		v.closeRequest()
		return err
	}
	writes, err := v.bind(v.tensors[v.inputs:], x.out)
	if err != nil {
		v.closeRequest()
		return err
	}
	v.request, err = x.program.object.Load().NewRequest(x.procedure, reads, writes)
	if err == nil {
		return nil
	}
	v.closeRequest()
	if refused(err, objcbridge.ReasonState) {
		return x.notLoaded("bind")
	}
	return x.engine.fault("bind", x.src.File, err)
}

// closeRequest closes the request and releases its surfaces.
func (v *invocation) closeRequest() {
	if v.request != nil {
		v.request.Close()
		v.request = nil
	}
	for _, s := range v.surfaces {
		s.release()
	}
	v.surfaces = nil
}

// releaseBlocks ends one hold on each Block.
func (v *invocation) releaseBlocks() {
	for _, b := range v.blocks {
		b.Release()
	}
}

// bind wraps the surfaces of tensors.
func (v *invocation) bind(tensors []*ane.Tensor, ports []port) ([]objcbridge.Binding, error) {
	bound := make([]objcbridge.Binding, len(tensors))
	for i, t := range tensors {
		s, err := v.x.engine.surfaces.acquire(t.Block())
		if err != nil {
			return nil, err
		}
		bound[i] = objcbridge.Binding{Surface: s.wrapper, Index: ports[i].index, Bytes: ports[i].Bytes()}
		v.surfaces = append(v.surfaces, s)
	}
	return bound, nil
}

// InputView implements access.Viewer, if this process has a mapping of the engine's memory.
func (v *invocation) InputView(i int) []byte { return v.view(i, v.x.in[i].Layout) }

// OutputView implements access.Viewer.
func (v *invocation) OutputView(i int) []byte { return v.view(v.inputs+i, v.x.out[i].Layout) }

func (v *invocation) view(i int, l ane.Layout) []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.viewed { // a run in flight may be making request and surfaces
		if v.inFlight || v.request == nil && v.makeRequest() != nil {
			return nil
		}
		v.viewed = true // keeps the bytes mapped until Close
	}
	if i < len(v.surfaces) && v.surfaces[i].Bytes != nil {
		return v.surfaces[i].Bytes[:l.Bytes():l.Bytes()]
	}
	return nil
}

// Close implements ane.Invocation. An abandoned run keeps the request until it returns.
func (v *invocation) Close() error {
	v.mu.Lock()
	v.closed = true
	out := v.abandoned
	v.mu.Unlock()
	v.x.engine.idle.Delete(v)
	if v.work != nil {
		close(v.work)
	}
	if !out {
		v.discard()
	}
	return nil
}

// discard closes the request under mu.
func (v *invocation) discard() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closeRequest()
}
