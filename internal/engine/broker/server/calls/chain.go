package calls

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/server/resources"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// chain is one submission of several requests, which run one after another. Its goroutine names the outputs of each
// before it gives the inputs (selectors 3 and 4 of the direct path). The client sends nothing in between.
type chain struct {
	steps    []wire.Step
	requests []*resources.Request // of the steps
	lanes    []*resources.Lane
	ctx      context.Context

	mu  sync.Mutex
	now uint64 // token of the driver's chain that runs; 0 between steps
}

// Chain starts a chain. A goroutine answers it, unless an error is returned.
func (t *Calls) Chain(frame uint64, q *wire.Chain) error {
	if len(q.Steps) == 0 || q.Deadline > math.MaxInt64 {
		return &ane.Error{Op: "chain", Engine: resources.Name, Err: ane.ErrLength,
			Detail: fmt.Sprintf("%d requests, deadline of %d ns", len(q.Steps), q.Deadline),
			Hint:   "name one request or more, and nanoseconds from now, or 0"}
	}
	ch := &chain{steps: q.Steps}
	for i, step := range q.Steps {
		r := t.requests.Find(step.Request)
		err := t.chainable(r, step.Request, q.Sequence)
		if err == nil {
			var lane *resources.Lane
			lane, err = r.Program.Lane(t.dev)
			ch.lanes, ch.requests = append(ch.lanes, lane), append(ch.requests, r)
		}
		if err != nil {
			return ch.fault(i, err)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c, err := t.fly(wire.KindChain, frame, q.Sequence)
	if err != nil {
		return err
	}
	for _, r := range ch.requests {
		c.holds(r)
	}
	if q.Deadline > 0 {
		ch.ctx, c.cancel = context.WithTimeout(t.ctx, time.Duration(q.Deadline))
	} else {
		ch.ctx, c.cancel = context.WithCancel(t.ctx)
	}
	cancel := c.cancel
	t.chained.Go(func() {
		err := t.follow(ch)
		cancel()
		t.answering.Add(1) // before the call lands
		t.answer(c, err)
		t.answering.Add(-1)
	})
	return nil
}

// chainable tells why a request cannot be a step.
func (t *Calls) chainable(r *resources.Request, handle uint32, sequence uint64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.may(r, handle, sequence, 0); err != nil {
		return err
	}
	if n := len(r.Program.Out); n > driver.MaxOutputs {
		return resources.Exhausted("chain", fmt.Sprintf("request %d", handle), "outputs of a step", driver.MaxOutputs,
			"evaluate it alone")
	}
	return nil
}

// follow runs the steps of a chain, until one fails or the chain's context ends.
func (t *Calls) follow(ch *chain) error {
	stop := context.AfterFunc(ch.ctx, func() {
		ch.mu.Lock()
		defer ch.mu.Unlock()
		if ch.now != 0 {
			t.dev.StopChain(ch.now)
		}
	})
	defer stop()
	for i, l := range ch.lanes {
		select {
		case l.Turn <- struct{}{}:
		case <-ch.ctx.Done():
			return ch.fault(i, ane.Deadline("chain", resources.Name, ch.ctx.Err()))
		}
		err := t.step(ch, i, l.Chain)
		<-l.Turn
		if err != nil {
			return ch.fault(i, err)
		}
	}
	return nil
}

// step runs one request of a chain. The caller has the turn of its lane.
func (t *Calls) step(ch *chain, i int, token uint64) error {
	ch.run(token)
	defer ch.run(0)
	t.counts.Evaluations.Add(1)
	if err := t.dev.Begin(token); err != nil {
		return err
	}
	// Whatever ends the context from here on stops the driver's chain: the driver then
	// refuses the inputs below or ends their run.
	if err := ch.ctx.Err(); err != nil {
		return ane.Deadline("chain", resources.Name, err)
	}
	r := ch.requests[i]
	in := len(r.Program.In)
	if err := t.dev.Outputs(token, r.IDs[in:]); err != nil {
		return err
	}
	send := make([]byte, driverabi.InputsReadySize)
	driverabi.RequestToken.Put(send, token)
	prioritize(send, r.Program, ch.steps[i].QoS)
	driverabi.PutSurfaces(send, r.IDs[:in])
	err := t.dev.Inputs(send)
	if ended := ch.ctx.Err(); err != nil && ended != nil {
		return ane.Deadline("chain", resources.Name, ended)
	}
	return err
}

// run notes the driver's chain that runs, 0 for none.
func (ch *chain) run(token uint64) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	ch.now = token
}

// fault is err with the step at which the chain ended.
func (ch *chain) fault(i int, err error) error {
	e := ane.Error{Engine: resources.Name, Err: err}
	if known, ok := errors.AsType[*ane.Error](err); ok {
		e = *known
	}
	step := fmt.Sprintf("step %d of %d", i+1, len(ch.steps))
	if e.Name != "" {
		step += ", " + e.Name
	}
	e.Op, e.Name = "chain", step
	return &e
}
