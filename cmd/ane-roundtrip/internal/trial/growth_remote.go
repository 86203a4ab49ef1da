package trial

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/models"
)

// maximumOf returns the program of the largest element of each channel of 512 KiB.
func maximumOf(channels int) (ane.Source, error) {
	b := mil.NewBuilder()
	f := b.Func("main")
	x := f.Input("x", mil.FP16, 1, channels, 512, 512)
	f.Output(f.Op("reduce_max", mil.TensorOf(mil.FP16, 1, channels, 1, 1), "y", mil.A("x", x),
		mil.A("axes", f.Const("axes", mil.Int32s(2, 3))), mil.A("keep_dims", f.Const("keep", mil.BoolScalar(true)))))
	p, err := b.Program()
	if err != nil {
		return ane.Source{}, err
	}
	return ane.Source{File: "growth.mil", Program: p}, nil
}

// rounds is the most rounds of a measurement that other clients of a shared broker can disturb. A copy
// shows in every round; memory and messages of other clients do not.
const rounds = 4

// growthRemote evaluates a program on an input of 256 MiB of which all pages exist. A copy of the input, in either
// process, needs the same amount of memory again. The limit of the growth is a thirtieth of the input: a copy takes
// all of it, while threads that the runtime starts on a busy machine take some MiB.
func growthRemote(ctx context.Context, d *ane.Device, small models.Model) (checks []Check, err error) {
	const name, channels = GrowthCheck, 512
	src, err := maximumOf(channels)
	if err != nil {
		return nil, err
	}
	r, err := NewRig(ctx, d, src)
	if err != nil {
		return nil, err
	}
	defer func() {
		if r != nil {
			err = errors.Join(err, r.Close(context.WithoutCancel(ctx)))
		}
	}()
	size := int64(r.TensorBytes())
	limit := size / 30
	probe, err := modelRig(ctx, d, small)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, probe.Close(context.WithoutCancel(ctx))) }()
	read := func() (int64, error) { return probe.unshared(ctx) }
	grown, err := r.grow(ctx, read)
	for round := 1; round < rounds && err == nil && grown >= limit; round++ {
		// The engine may keep what it made for the tensors of a round, so each has its own.
		if err = r.Close(ctx); err == nil {
			r, err = NewRig(ctx, d, src)
		}
		if err != nil {
			return nil, err
		}
		var again int64
		again, err = r.grow(ctx, read)
		grown = min(grown, again)
	}
	switch {
	case errors.Is(err, errUnread):
		return []Check{Skipped(name, "%v", err)}, nil
	case err != nil:
		return nil, err
	}
	traffic, err := traffic(ctx, d, r, small)
	return []Check{Judge(name, grown < limit, float64(grown), "bytes",
		"memory of both processes changed by %s while %s of tensors were bound and evaluated", mebi(grown), mebi(size)).
		Against(AtMost(float64(limit - 1))), traffic}, err
}

// unshared returns the memory of this process and of the engine's that a copy of tensors would increase, in bytes: all
// memory of this one, and that of the engine's process beside the surfaces of its clients, as it reports. So it counts
// copies that the engine makes, whether it maps them once or twice, but not the surfaces of other clients. r stays
// bound.
func (r *Rig) unshared(ctx context.Context) (int64, error) {
	p, err := patiently(func(q ane.PeerQuery) (ane.PeerReport, error) {
		return r.Request.ReportInput(ctx, r.Model.Inputs()[0].Name, q)
	})
	if err != nil {
		return 0, err
	}
	sum := p.Rest.Proportional
	err = procmem.Mappings(0, func(m *procmem.Mapping) {
		if !m.OnDisk() {
			sum += m.Resident
		}
	})
	return sum, err
}

// grow binds and evaluates between two readings of the memory, after all pages of the tensors were touched. The engine
// has not run with these tensors before.
func (r *Rig) grow(ctx context.Context, read Meter) (int64, error) {
	clear(r.In["x"].Bytes())
	clear(r.Out["y"].Bytes())
	if err := r.Request.Close(); err != nil {
		return 0, err
	}
	runtime.GC()
	before, err := read()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errUnread, err)
	}
	if r.Request, err = r.Model.Bind(r.In, r.Out); err != nil {
		return 0, err
	}
	if _, err := r.Model.Evaluate(ctx, r.Request); err != nil {
		return 0, err
	}
	after, err := read()
	return after - before, err
}

// trafficCheck is the name of the check that traffic makes.
const trafficCheck = "sharing/traffic"

// maxMessages is the most bytes that an evaluation may send and receive.
const maxMessages = 256

// traffic counts the bytes that the processes exchange for an evaluation of a large tensor and of a
// small one. It takes the least of several rounds, since answers to earlier calls may arrive at the same time.
func traffic(ctx context.Context, d *ane.Device, big *Rig, small models.Model) (check Check, err error) {
	r, err := modelRig(ctx, d, small)
	if err != nil {
		return Check{}, err
	}
	defer func() { err = errors.Join(err, r.Close(context.WithoutCancel(ctx))) }()
	var cost [2]int64
	for round := range rounds {
		for i, rig := range []*Rig{big, r} {
			sent, received, _ := d.Traffic()
			if _, err := rig.Model.Evaluate(ctx, rig.Request); err != nil {
				return Check{}, err
			}
			s, g, _ := d.Traffic()
			if n := s - sent + g - received; round == 0 || n < cost[i] {
				cost[i] = n
			}
		}
		if cost[0] == cost[1] && cost[0] <= maxMessages {
			break
		}
	}
	ok := cost[0] == cost[1] && cost[0] > 0 && cost[0] <= maxMessages
	return Judge(trafficCheck, ok, float64(cost[0]), "bytes",
		"an evaluation sends and receives %d bytes for %s of tensors, %d bytes for %s",
		cost[0], mebi(int64(big.TensorBytes())), cost[1], kibi(int64(r.TensorBytes()))).Against(Within(1,
		maxMessages)), nil
}
