package broker

import (
	"context"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/procmem"
)

// Purge implements ane.Keeper.
func (e *engine) Purge(ctx context.Context) (programs int, bytes int64, err error) {
	var reply wire.Purged
	if err := e.tell(ctx, "purge", wire.KindPurge, &wire.Purge{}, &reply); err != nil {
		return 0, 0, err
	}
	return int(reply.Programs), int64(reply.Bytes), nil
}

// Counters implements ane.Keeper.
func (e *engine) Counters(ctx context.Context) (map[string]uint64, error) {
	var reply wire.Stats
	if err := e.tell(ctx, "counters", wire.KindStats, &wire.Empty{}, &reply); err != nil {
		return nil, err
	}
	return named(&reply), nil
}

// tell asks the present broker about itself.
func (e *engine) tell(ctx context.Context, op string, k wire.Kind, request, reply wire.Payload) error {
	if ctx.Err() != nil {
		return ane.Deadline(op, Name, joinCause(ctx))
	}
	ctx, cancel := e.patientWithin(ctx)
	defer cancel()
	_, err := outlast(ctx, func() (none, error) {
		return none{}, retry(func() error {
			l, err := e.link(ctx)
			if err != nil {
				return err
			}
			return l.ask(k, request, reply)
		})
	}, nil)
	return failed(ctx, op, e.options.Path, err)
}

// SetQoS implements ane.Prioritizer: it is the place of the runs in the broker's queue.
func (v *invocation) SetQoS(q ane.QoS) error {
	ctx, cancel := v.exec.engine.patient()
	defer cancel()
	if err := enter(ctx, v.busy); err != nil { // a run that was given up
		return failed(ctx, "qos", v.exec.file(), err)
	}
	v.qos = uint32(q)
	<-v.busy
	return nil
}

// Traffic implements access.Metered: bytes over all connections of the engine, headers
// included.
func (e *engine) Traffic() (sent, received int64, ok bool) {
	t := e.traffic()
	return int64(t.BytesOut), int64(t.BytesIn), true
}

// Peer implements access.Peer with what the system shows of the broker's mappings. An address is 0 where the broker has
// not mapped the tensor's memory. The answer is empty while the request runs, when its broker has gone, and where the
// system shows nothing of other processes.
func (v *invocation) Peer() (pid int, inputs, outputs []uintptr) {
	select {
	case v.busy <- struct{}{}:
		defer func() { <-v.busy }()
	default:
		return 0, nil, nil
	}
	if v.closed.Load() || v.at == nil || v.at.over.Load() {
		return 0, nil, nil
	}
	pid = int(v.at.hello.PID)
	all := make([]uintptr, len(v.tensors))
	for i, t := range v.tensors {
		address, err := procmem.Elsewhere(pid, uint64(t.Block().Address()))
		if err != nil {
			return 0, nil, nil
		}
		all[i] = uintptr(address)
	}
	return pid, all[:v.inputs], all[v.inputs:]
}
