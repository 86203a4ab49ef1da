package broker

import (
	"context"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// Purge implements ane.Keeper.
func (e *engine) Purge(ctx context.Context) (programs int, bytes int64, err error) {
	var reply wire.Purged
	err = e.tell(ctx, "purge", wire.KindPurge, &wire.Purge{}, &reply)
	return int(reply.Programs), int64(reply.Bytes), err
}

// Counters implements ane.Keeper.
func (e *engine) Counters(ctx context.Context) (map[string]uint64, error) {
	var reply wire.Stats
	if err := e.tell(ctx, "counters", wire.KindStats, &wire.Empty{}, &reply); err != nil {
		return nil, err
	}
	return (*counters)(&reply).named(), nil
}

// tell asks the present broker about itself.
func (e *engine) tell(ctx context.Context, op string, k wire.Kind, request, reply wire.Payload) error {
	if ctx.Err() != nil {
		return ane.Deadline(op, Name, joinCause(ctx))
	}
	ctx, cancel := e.patient(ctx)
	defer cancel()
	err := retry(func() error {
		s, err := e.session(ctx)
		if err != nil {
			return err
		}
		return s.ask(ctx, k, request, reply, nil)
	})
	return failed(ctx, op, e.options.Path, settled(err))
}

// SetQoS implements ane.Prioritizer: it is the place of the runs in the broker's queue.
func (v *invocation) SetQoS(q ane.QoS) error {
	ctx, cancel := v.exec.engine.patient(context.Background())
	defer cancel()
	if err := enter(ctx, v.busy); err != nil { // a run that was given up
		return failed(ctx, "qos", v.exec.upload.request.File, err)
	}
	v.qos = uint32(q)
	v.yield()
	return nil
}

// Traffic implements ane.Metered: bytes over all connections of the engine, headers
// included.
func (e *engine) Traffic() (sent, received int64, ok bool) {
	c, ok := Counts(e)
	return c.Bytes, c.Received, ok
}
