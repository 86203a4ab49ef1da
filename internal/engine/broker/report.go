package broker

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// Peer implements ane.Peer. It asks the broker for the addresses, which no other answer tells. While the request runs,
// or its broker has gone, the answer is empty.
func (v *invocation) Peer() (pid int, inputs, outputs []uintptr) {
	ctx, cancel := v.exec.engine.patient(context.Background())
	defer cancel()
	all := make([]uintptr, len(v.tensors))
	for i := range v.tensors {
		r, err := v.report(ctx, i, &wire.Report{})
		if err != nil {
			return 0, nil, nil
		}
		pid, all[i] = int(r.PID), uintptr(r.Address)
	}
	return pid, all[:v.inputs], all[v.inputs:]
}

// ReportPeer implements ane.PeerReporter.
func (v *invocation) ReportPeer(ctx context.Context, i int, q ane.PeerQuery) (ane.PeerReport, error) {
	if uint64(q.Page) > math.MaxUint32 || q.Pages < 0 || q.Pages > wire.MaxFrames || i < 0 || i >= len(v.tensors) {
		return ane.PeerReport{}, &ane.Error{Op: "report", Engine: Name, Err: ane.ErrLength,
			Detail: fmt.Sprintf("tensor %d of %d, %d pages from page %d on", i, len(v.tensors), q.Pages, q.Page),
			Hint:   fmt.Sprintf("ask for at most %d pages at once", wire.MaxFrames)}
	}
	r, err := v.report(ctx, i, &wire.Report{Page: uint32(q.Page), Pages: uint32(q.Pages), Memory: q.Memory})
	if err != nil {
		return ane.PeerReport{}, failed(ctx, "report", v.exec.upload.request.File, settled(err))
	}
	p := ane.PeerReport{PID: int(r.PID), Address: uintptr(r.Address), Device: r.Mapping.Device, Inode: r.Mapping.Inode,
		Offset: r.Mapping.Offset, Shared: r.Mapping.Shared,
		Surface: peerMemory(r.Mapping.Amounts), Rest: peerMemory(r.Rest)}
	if !r.Hidden {
		p.Frames = slices.Clone(r.Frames)
	}
	return p, nil
}

func peerMemory(a wire.Amounts) ane.PeerMemory {
	return ane.PeerMemory{Resident: int64(a.Resident), Proportional: int64(a.Proportional),
		PrivateDirty: int64(a.PrivateDirty)}
}

// report asks the broker where the request is bound about the surface of tensor i.
func (v *invocation) report(ctx context.Context, i int, q *wire.Report) (r wire.Reported, err error) {
	select {
	case v.busy <- struct{}{}:
		defer v.yield()
	default:
		return r, &ane.Error{Op: "report", Engine: Name, Err: ane.ErrBusy, Hint: "wait for the evaluation"}
	}
	if v.closed.Load() {
		return r, &ane.Error{Op: "report", Engine: Name, Err: ane.ErrClosed}
	}
	if v.at == nil || v.at.over.Load() {
		return r, &ane.Error{Op: "report", Engine: Name, Err: ane.ErrLost, Hint: "evaluate, which binds again"}
	}
	q.Surface = v.surfaces[i].token
	err = v.at.ask(ctx, wire.KindReport, q, &r, nil)
	return r, err
}
