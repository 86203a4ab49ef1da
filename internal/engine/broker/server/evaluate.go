package server

import (
	"fmt"
	"math"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/driverabi"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// inlineTime is what a program's runs may take to be run by the goroutine that reads
// the client's frames, when the engine is idle: no more than some changes of
// goroutine cost, so that a Cancel is hardly later than it would be otherwise.
const inlineTime = 200 * time.Microsecond

// evaluate sends a request to the driver. It is answered once, by sendDone or by a
// fault, unless an error is returned.
func (c *session) evaluate(f *wire.Frame) error {
	var q wire.Evaluate
	if err := q.Parse(f.Payload); err != nil {
		return err
	}
	fl, err := c.lift(f.ID, &q)
	if err != nil {
		return err
	}
	if err := fl.send.Encode(fl.in[:]); err != nil {
		c.land(fl)
		return err
	}
	fl.start = time.Now()
	if ret := c.dev.client.Control(driverabi.ControlSendRequest, &fl.args); ret != driverabi.Success {
		why := c.dev.client.Explain()
		c.land(fl)
		return explain("evaluate", ret, why)
	}
	if !fl.state.CompareAndSwap(flown, sent) {
		c.finish(fl)
	}
	return nil
}

// lift takes a flight for an evaluation, or tells why it is refused.
func (c *session) lift(frame uint64, q *wire.Evaluate) (*flight, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.requests[q.Request]
	switch {
	case r == nil:
		return nil, unknown("evaluate", "request", q.Request)
	case !r.program.loaded:
		return nil, &ane.Error{Op: "evaluate", Engine: Name, Name: fmt.Sprintf("program %d", r.program.handle), Err: ane.ErrNotLoaded, Hint: "load it first"}
	case r.busy:
		return nil, &ane.Error{Op: "evaluate", Engine: Name, Name: fmt.Sprintf("request %d", q.Request), Err: ane.ErrBusy, Hint: "bind one request for each evaluation in flight"}
	case c.flying(q.Sequence) != nil:
		return nil, &ane.Error{Op: "evaluate", Engine: Name, Name: fmt.Sprintf("sequence %d", q.Sequence), Err: ane.ErrInUse, Hint: "count sequence numbers up"}
	case r.program.flying >= r.program.depth:
		return nil, exhausted("evaluate", fmt.Sprintf("program %d", r.program.handle), "evaluations in flight", r.program.depth, "wait for one of them")
	case q.Deadline > math.MaxInt64:
		return nil, &ane.Error{Op: "evaluate", Engine: Name, Err: ane.ErrLength, Detail: fmt.Sprintf("deadline of %d ns", q.Deadline), Hint: "give nanoseconds from now, or 0"}
	}
	fl := c.spare()
	if fl == nil {
		return nil, exhausted("evaluate", "", "evaluations in flight", driverabi.QueueDepth, "wait for one of them")
	}
	fl.frame, fl.client, fl.number, fl.request, fl.program, fl.flying = frame, q.Sequence, c.next, r, r.program, true
	c.next++
	fl.state.Store(flown)
	fl.send = r.send
	qos := q.QoS
	if qos == 0 {
		qos = r.program.qos
	}
	fl.send.Token, fl.send.Sequence = r.program.token, fl.number
	fl.send.QoS, fl.send.Priority = r.program.lowered(qos), 0
	fl.send.Priority = driverabi.Priority(fl.send.QoS)
	x := driver.Submit{Timeout: q.Deadline}
	if brief := time.Duration(r.program.brief.Load()); brief > 0 && brief < inlineTime {
		x.Flags = driver.RunInline
	}
	x.Encode(&fl.send)
	r.busy = true
	r.program.flying++
	return fl, nil
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
func (c *session) finish(fl *flight) {
	p, frame, sequence, end := fl.program, fl.frame, fl.client, &fl.end
	took := int64(time.Since(fl.start))
	c.counts.evaluations.Add(1)
	ret, err := end.Return, end.Err
	if ret == driverabi.Success {
		p.timed(took)
	}
	c.land(fl)
	if ret != driverabi.Success {
		c.counts.failed.Add(1)
		c.fault(frame, explain("evaluate", ret, err))
		return
	}
	c.sendDone(frame, wire.Done{Sequence: sequence})
}

// stop cancels an evaluation, which is answered all the same.
func (c *session) stop(f *wire.Frame) error {
	var q wire.Cancel
	if err := q.Parse(f.Payload); err != nil {
		return err
	}
	c.mu.Lock()
	fl := c.flying(q.Sequence)
	var number uint32
	if fl != nil {
		number = fl.number
	}
	c.mu.Unlock()
	r := wire.Cancelled{Sequence: q.Sequence}
	if fl != nil {
		// What waits ends before Stop returns; what runs ends when the engine notices.
		switch c.dev.client.Stop(number) {
		case driver.WasWaiting:
			r.State = wire.CancelQueued
		case driver.WasRunning:
			r.State = wire.CancelRunning
		}
	}
	return c.reply(f, &r)
}
