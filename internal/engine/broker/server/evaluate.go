package server

import (
	"fmt"
	"math"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// inlineTime is what a program's runs may take to be run by the goroutine that reads
// the client's frames, when the engine is idle: no more than some changes of
// goroutine cost, so that a Cancel is hardly later than it would be otherwise.
const inlineTime = 200 * time.Microsecond

// evaluate sends a request to the driver. It is answered once, by finish, unless an
// error is returned.
func (t *flights) evaluate(f *wire.Frame) error {
	var q wire.Evaluate
	if err := wire.Parse(f.Payload, &q); err != nil {
		return err
	}
	fl, err := t.lift(f.ID, &q)
	if err != nil {
		return err
	}
	fl.start = time.Now()
	if ret := t.dev.client.Control(driverabi.ControlSendRequest, &fl.args); ret != driverabi.Success {
		why := t.dev.client.Explain()
		t.land(fl)
		return explain("evaluate", ret, why)
	}
	if !fl.state.CompareAndSwap(flown, sent) {
		t.finish(fl)
	}
	return nil
}

// lift takes a flight for an evaluation, or tells why it is refused. The session's turn
// is held.
func (t *flights) lift(frame uint64, q *wire.Evaluate) (*flight, error) {
	r := t.requests.table.find(q.Request)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.may(r, q.Request, q.Sequence, q.Deadline); err != nil {
		return nil, err
	}
	fl := t.spare()
	if fl == nil {
		return nil, exhausted("evaluate", "", "evaluations in flight", driverabi.QueueDepth, "wait for one of them")
	}
	fl.frame, fl.client, fl.number, fl.request, fl.program, fl.flying = frame, q.Sequence, t.next, r, r.program, true
	t.next++
	fl.state.Store(flown)
	in := fl.in[:]
	driverabi.RequestToken.Put(in, r.program.token)
	driverabi.RequestSequence.Put(in, fl.number)
	r.program.prioritize(in, q.QoS)
	driverabi.PutSurfaces(in, r.ids)
	flags := uint32(0)
	if brief := time.Duration(r.program.brief.Load()); brief > 0 && brief < inlineTime {
		flags = driver.RunInline
	}
	driver.RequestFlags.Put(in, flags)
	driver.RequestTimeout.Put(in, q.Deadline)
	r.fly()
	return fl, nil
}

// may tells why a request, which the client calls handle, cannot be evaluated. The caller
// holds the lock.
func (t *flights) may(r *request, handle uint32, sequence, deadline uint64) error {
	fault := func(name string, number uint64, err error, hint string) error {
		return &ane.Error{Op: "evaluate", Engine: Name, Name: fmt.Sprintf("%s %d", name, number), Err: err, Hint: hint}
	}
	switch {
	case r == nil:
		return unknown("evaluate", "request", handle)
	case !r.program.loaded:
		return fault("program", uint64(r.program.handle), ane.ErrNotLoaded, "load it first")
	case r.busy:
		return fault("request", uint64(handle), ane.ErrBusy, "bind one request for each evaluation in flight")
	case t.find(sequence) != nil:
		return fault("sequence", sequence, ane.ErrInUse, "count sequence numbers up")
	case r.program.flying >= r.program.depth:
		return exhausted("evaluate", fmt.Sprintf("program %d", r.program.handle), "evaluations in flight",
			r.program.depth,
			"wait for one of them")
	case deadline > math.MaxInt64:
		return &ane.Error{Op: "evaluate", Engine: Name, Err: ane.ErrLength,
			Detail: fmt.Sprintf("deadline of %d ns", deadline),
			Hint:   "give nanoseconds from now, or 0"}
	}
	return nil
}

// prioritize gives a request its category and its quality of service, 0 for that of Load.
func (p *program) prioritize(request []byte, qos uint32) {
	if qos == 0 {
		qos = p.qos
	}
	qos = p.lowered(qos)
	driverabi.RequestCategory.Put(request, driverabi.IOCategory)
	driverabi.RequestQoS.Put(request, qos)
	driverabi.RequestPriority.Put(request, driverabi.Priority(qos))
}

// lowered is the quality of service of a program that saves power: the next lower
// class, or the lowest. An instance is lowered by the driver.
func (p *program) lowered(qos uint32) uint32 {
	switch {
	case p.inst != nil:
		return qos
	case p.args.Aggressive:
		return driverabi.QoSBackground
	case !p.args.PowerSaving:
		return qos
	}
	return driverabi.Lower(qos)
}

// timed notes how long a run to its end took: how soon one was stopped says nothing.
// Quick to fall and slow to rise: the time contains what the run waited for, and a busy
// machine must not keep short programs from being run at once.
func (p *program) timed(took int64) {
	if was := p.brief.Load(); was != 0 && took > was {
		took = was + (took-was)/8
	}
	p.brief.Store(max(took, 1))
}

// finish answers an evaluation. The request may be evaluated again from the moment
// that its answer can be read.
func (t *flights) finish(fl *flight) {
	p, frame, sequence, end := fl.program, fl.frame, fl.client, &fl.end
	took := int64(time.Since(fl.start))
	t.counts.evaluations.Add(1)
	ret, err := end.Return, end.Err
	if ret == driverabi.Success {
		p.timed(took)
	}
	t.land(fl)
	if ret != driverabi.Success {
		t.counts.failed.Add(1)
		t.out.fault(frame, explain("evaluate", ret, err))
		return
	}
	t.out.done(wire.KindEvaluate, frame, wire.Done{Sequence: sequence})
}

// cancel ends an evaluation, which is answered all the same.
func (t *flights) cancel(payload []byte) (wire.Payload, error) {
	var q wire.Cancel
	if err := wire.Parse(payload, &q); err != nil {
		return nil, err
	}
	t.mu.Lock()
	fl := t.find(q.Sequence)
	var number uint32
	var ch *chain
	if fl != nil {
		number, ch = fl.number, fl.chain
	}
	t.mu.Unlock()
	r := wire.Cancelled{Sequence: q.Sequence}
	switch {
	case ch != nil:
		ch.cancel()
		r.State = wire.CancelRunning
	case fl != nil:
		// What waits ends before Stop returns; what runs ends when the engine notices.
		switch t.dev.client.Stop(number) {
		case driver.WasWaiting:
			r.State = wire.CancelQueued
		case driver.WasRunning:
			r.State = wire.CancelRunning
		}
	}
	return &r, nil
}
