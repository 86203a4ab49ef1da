package broker

import (
	"cmp"
	"context"
	"errors"
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
	busy    chan struct{}
	at      *link // where the request is bound
	loads   int64 // exec.loads when it was
	request uint32
	exports []*export
	alone   evaluation
	qos     uint32 // 0 for that of Load

	closed atomic.Bool
}

// Prepare implements ane.Executable.
func (x *executable) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	v := &invocation{exec: x, tensors: slices.Concat(in, out), inputs: len(in), busy: make(chan struct{}, 1)}
	self := []*invocation{v}
	v.alone = evaluation{op: "evaluate", name: x.file(), steps: self, requests: self, pending: newPending()}
	ctx, cancel := x.engine.patient()
	defer cancel()
	v.busy <- struct{}{}
	err := retry(func() error { return v.alone.bind(ctx) })
	if isInFlight(err) {
		x.freeing.Go(v.free)
	} else {
		<-v.busy
	}
	if err != nil {
		return nil, failed(ctx, "bind", x.file(), err)
	}
	return v, nil
}

// Evaluate implements ane.Invocation. When ctx ends first, the broker gets a
// Cancel, and the Blocks stay held until it has ended the run.
func (v *invocation) Evaluate(ctx context.Context) error { return v.alone.evaluate(ctx) }

// bound reports whether the request is bound at the present broker, to the program as it is loaded.
func (v *invocation) bound() bool {
	return v.at != nil && !v.at.over.Load() && v.loads == v.exec.loads.Load()
}

// bind binds the request at the present broker.
func (v *invocation) bind(ctx context.Context) error {
	if v.bound() {
		return nil
	}
	p, err := v.exec.ready(ctx)
	if err != nil {
		return err
	}
	if p.link == v.at { // unloaded and loaded since, which a request survives
		v.loads = p.loads
		return nil
	}
	_ = v.unbind() // its broker has gone
	request := wire.Bind{Program: p.program}
	exports := make([]*export, len(v.tensors))
	for i, t := range v.tensors {
		exports[i] = p.link.export(t.Block())
		err = cmp.Or(err, exports[i].err)
		port := wire.Port{Surface: exports[i].token, Offset: uint64(t.Offset())}
		if i < v.inputs {
			request.In = append(request.In, port)
		} else {
			request.Out = append(request.Out, port)
		}
	}
	var reply wire.Bound
	if err == nil {
		err = p.link.ask(wire.KindBind, &request, &reply)
	}
	if err != nil {
		_ = p.link.release(exports) // the first failure is the one to report
		return err
	}
	v.at, v.loads, v.request, v.exports = p.link, p.loads, reply.Request, exports
	return nil
}

// unbind frees the request at the broker.
func (v *invocation) unbind() error {
	l := v.at
	if l == nil {
		return nil
	}
	v.at = nil
	err := l.ask(wire.KindUnbind, &wire.Unbind{Request: v.request}, &wire.Empty{})
	return errors.Join(undone(err), l.release(v.exports))
}

// Close implements ane.Invocation. It waits for a run that was given up, so that afterwards no run writes to the Blocks
// and the program can be unloaded. If the broker does not answer, the end of the run frees the request.
func (v *invocation) Close() error {
	if v.closed.Swap(true) {
		return nil
	}
	ctx, cancel := v.exec.engine.patient()
	defer cancel()
	if enter(ctx, v.busy) != nil {
		go v.free()
		return nil
	}
	_, err := outlast(ctx, func() (none, error) {
		defer func() { <-v.busy }()
		return none{}, v.unbind()
	}, nil)
	return failed(ctx, "close", v.exec.file(), err)
}

// free frees a request that no caller waits for, once its run has ended.
func (v *invocation) free() {
	v.busy <- struct{}{}
	_ = v.unbind() // it fails when the broker refuses what it said itself
	<-v.busy
}
