package calls

import (
	"time"

	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/server/resources"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// inlineTime is the longest run that the goroutine which reads the client's frames may run itself, if the engine is
// idle. It is no more than the cost of a few changes of goroutine, so a Cancel is hardly delayed.
const inlineTime = 200 * time.Microsecond

// Evaluate sends a request to the driver. It is answered once, unless an
// error is returned.
func (t *Calls) Evaluate(f *wire.Frame) error {
	var q wire.Evaluate
	if err := wire.Parse(f.Payload, &q); err != nil {
		return err
	}
	c, err := t.lift(f.ID, &q)
	if err != nil {
		return err
	}
	c.start = time.Now()
	if err := t.dev.Control(driverabi.ControlSendRequest, &c.args); err != nil {
		t.land(c)
		return resources.Explain("evaluate", err)
	}
	if !c.state.CompareAndSwap(flown, sent) {
		t.finish(c)
	}
	return nil
}

// lift takes a call for an evaluation, or tells why it is refused.
func (t *Calls) lift(frame uint64, q *wire.Evaluate) (*call, error) {
	r := t.requests.Find(q.Request)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.may(r, q.Request, q.Sequence, q.Deadline); err != nil {
		return nil, err
	}
	c, err := t.fly(wire.KindEvaluate, frame, q.Sequence)
	if err != nil {
		return nil, err
	}
	c.holds(r)
	c.number = t.next
	t.next++
	c.state.Store(flown)
	in := c.in[:]
	prioritize(in, r.Program, q.QoS)
	driverabi.RequestToken.Put(in, r.Program.Token())
	driverabi.RequestSequence.Put(in, c.number)
	driverabi.PutSurfaces(in, r.IDs)
	flags := uint32(0)
	if brief := time.Duration(r.Program.Brief.Load()); brief > 0 && brief < inlineTime {
		flags = driver.RunInline
	}
	driver.RequestFlags.Put(in, flags)
	driver.RequestTimeout.Put(in, q.Deadline)
	return c, nil
}

// prioritize gives a request its category and its quality of service.
func prioritize(request []byte, p *resources.Program, qos uint32) {
	qos = p.Lowered(qos)
	driverabi.RequestCategory.Put(request, driverabi.IOCategory)
	driverabi.RequestQoS.Put(request, qos)
	driverabi.RequestPriority.Put(request, driverabi.Priority(qos))
}

// Woken takes the end of an evaluation from the driver. If the engine was stuck, that may be long after the end of the
// connection. Woken never blocks: done has room for every call.
func (t *Calls) Woken(end driver.Completion) {
	c := t.list.At(int(end.Port) - 1) // written before the driver knew the port
	c.end = end
	if !c.state.CompareAndSwap(flown, woken) {
		t.done <- c
	}
}

// Deliver answers evaluations that were queued, until Stop.
func (t *Calls) Deliver() {
	for c := range t.done {
		if c == nil {
			return
		}
		t.answering.Add(1) // before the call lands
		t.finish(c)
		t.answering.Add(-1)
	}
}

// Stop ends Deliver when it has answered what there is.
func (t *Calls) Stop() { t.done <- nil }

// finish answers an evaluation.
func (t *Calls) finish(c *call) {
	t.counts.Evaluations.Add(1)
	if c.end.Err == nil {
		timed(c.requests[0].Program, int64(time.Since(c.start)))
	}
	t.answer(c, resources.Explain("evaluate", c.end.Err))
}

// timed notes how long a run to its end took: how soon one was stopped says nothing. The average falls fast and rises
// slowly: the time includes waits, and a busy machine must not keep short programs from running inline.
func timed(p *resources.Program, took int64) {
	if was := p.Brief.Load(); was != 0 && took > was {
		took = was + (took-was)/8
	}
	p.Brief.Store(max(took, 1))
}
