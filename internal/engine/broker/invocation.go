package broker

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// invocation is a request at the broker. When that broker has gone, the next Evaluate
// binds it again.
type invocation struct {
	exec    *executable
	tensors []*ane.Tensor // inputs, then outputs
	inputs  int

	// busy holds a token while a run is in flight, even after its caller has stopped
	// waiting. It guards what follows.
	busy     chan struct{}
	at       *session // where the request is bound
	loads    int64    // exec.loads when it was
	bound    wire.Bound
	surfaces []*surface
	call     *call
	evaluate wire.Evaluate
	done     wire.Done
	payload  []byte
	qos      uint32 // 0 for that of Load

	closed atomic.Bool
}

// Prepare implements ane.Executable.
func (x *executable) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	v := &invocation{exec: x, tensors: slices.Concat(in, out), inputs: len(in), busy: make(chan struct{}, 1),
		call: newCall()}
	ctx, cancel := x.engine.patient(context.Background())
	defer cancel()
	if err := v.ready(ctx); err != nil {
		v.unbind()
		return nil, failed(ctx, "bind", x.upload.request.File, err)
	}
	return v, nil
}

// ready makes sure that the request is bound at the present broker.
func (v *invocation) ready(ctx context.Context) error {
	if v.at != nil && !v.at.over.Load() && v.loads == v.exec.loads.Load() {
		return nil
	}
	return retry(func() error {
		s, program, loads, err := v.exec.place(ctx)
		if err != nil {
			return err
		}
		if s == v.at { // unloaded and loaded since, which a request survives
			v.loads = loads
			return nil
		}
		return v.bind(ctx, s, program, loads)
	})
}

// bind makes the surfaces known and the request.
func (v *invocation) bind(ctx context.Context, s *session, program uint32, loads int64) (err error) {
	v.unbind()
	request := wire.Bind{Program: program}
	for i, t := range v.tensors {
		f, err := s.attach(ctx, t.Block())
		if err != nil {
			s.detach(v.surfaces)
			v.surfaces = nil
			return err
		}
		v.surfaces = append(v.surfaces, f)
		p := wire.Port{Surface: f.token, Offset: uint64(t.Offset())}
		if i < v.inputs {
			request.In = append(request.In, p)
		} else {
			request.Out = append(request.Out, p)
		}
	}
	var reply wire.Bound
	surfaces := v.surfaces
	late := func(c *call) {
		if c.answer(wire.KindBind, &reply) == nil {
			s.post(wire.KindUnbind, &wire.Unbind{Request: reply.Request})
		}
		s.detach(surfaces)
	}
	err = s.ask(ctx, wire.KindBind, &request, &reply, late)
	switch {
	case err == nil:
		v.at, v.loads, v.bound = s, loads, reply
		return nil
	case !isInFlight(err):
		s.detach(surfaces)
	}
	v.surfaces = nil
	return err
}

// detach counts one request less on each surface.
func (s *session) detach(surfaces []*surface) {
	for _, f := range surfaces {
		s.release(f)
	}
}

// unbind has the broker free the request, without waiting for it.
func (v *invocation) unbind() {
	if v.at != nil {
		v.at.post(wire.KindUnbind, &wire.Unbind{Request: v.bound.Request})
		v.at.detach(v.surfaces)
		v.at, v.surfaces = nil, nil
	}
}

// dismiss frees the request at the broker and waits until it has.
func (v *invocation) dismiss() error {
	s := v.at
	if s == nil || s.over.Load() {
		return nil
	}
	surfaces := v.surfaces
	v.at, v.surfaces = nil, nil
	defer s.detach(surfaces)
	ctx, cancel := v.exec.engine.patient(context.Background())
	defer cancel()
	err := s.ask(ctx, wire.KindUnbind, &wire.Unbind{Request: v.bound.Request}, &wire.Empty{}, nil)
	if gone(err) {
		return nil
	}
	return failed(ctx, "close", v.exec.upload.request.File, err)
}

// Close implements ane.Invocation. It waits for a run that was given up, so that afterwards no run writes to the Blocks
// and the program can be unloaded. If the broker does not answer, the end of the run frees the request.
func (v *invocation) Close() error {
	if v.closed.Swap(true) {
		return nil
	}
	ctx, cancel := v.exec.engine.patient(context.Background())
	defer cancel()
	if enter(ctx, v.busy) != nil {
		return nil
	}
	defer func() { <-v.busy }()
	return v.dismiss()
}

// yield gives the turn back, and frees the request if it was closed during the run.
func (v *invocation) yield() {
	<-v.busy
	if !v.closed.Load() {
		return
	}
	select {
	case v.busy <- struct{}{}:
		v.unbind()
		<-v.busy
	default:
	}
}
