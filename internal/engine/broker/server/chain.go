package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// chain is one submission of several requests, which run one after another. Its goroutine
// names the outputs of each before it gives the inputs (selectors 3 and 4 of the direct
// path), so that the client takes no part in between.
type chain struct {
	steps  []wire.Step
	list   []*request // of the steps
	held   []*request // the same, each once
	ctx    context.Context
	cancel context.CancelFunc

	mu  sync.Mutex
	now uint64 // token of the driver's chain that runs; 0 between steps
}

// lane is the driver's chain of one prepared program. Its turn holds a token from the
// outputs of a step to the end of its run, because the driver takes outputs in their order.
type lane struct {
	chain uint64
	turn  chan struct{}
}

// lanes are those of one client, by the token of the program. The session's turn guards
// them.
type lanes struct{ open map[uint64]*lane }

// of makes the lane of a program, if it has none.
func (l *lanes) of(dev *device, program uint64) (*lane, error) {
	if have := l.open[program]; have != nil {
		return have, nil
	}
	token, err := dev.chain(program)
	if err != nil {
		return nil, err
	}
	l.open[program] = &lane{chain: token, turn: make(chan struct{}, 1)}
	return l.open[program], nil
}

// close forgets the lane of a program, whose chain the driver has undone.
func (l *lanes) close(program uint64) { delete(l.open, program) }

// runChain starts a chain. A goroutine answers it, unless an error is returned.
func (t *flights) runChain(f *wire.Frame) error {
	var q wire.Chain
	if err := wire.Parse(f.Payload, &q); err != nil {
		return err
	}
	if err := t.grant.Allow("chain", driverabi.EntitlementDataChaining); err != nil {
		return err
	}
	if len(q.Steps) == 0 || q.Deadline > math.MaxInt64 {
		return &ane.Error{Op: "chain", Engine: Name, Err: ane.ErrLength,
			Detail: fmt.Sprintf("%d requests, deadline of %d ns", len(q.Steps), q.Deadline),
			Hint:   "name one request or more, and nanoseconds from now, or 0"}
	}
	ch := &chain{steps: q.Steps}
	lanes := make([]*lane, len(q.Steps))
	for i, step := range q.Steps {
		r := t.requests.table.find(step.Request)
		err := t.chainable(r, step.Request, q.Sequence)
		if err == nil {
			lanes[i], err = t.lanes.of(t.dev, r.program.token)
		}
		if err != nil {
			return ch.fault(i, err)
		}
		ch.list = append(ch.list, r)
		if !slices.Contains(ch.held, r) {
			ch.held = append(ch.held, r)
		}
	}
	if q.Deadline > 0 {
		ch.ctx, ch.cancel = context.WithTimeout(t.ctx, time.Duration(q.Deadline))
	} else {
		ch.ctx, ch.cancel = context.WithCancel(t.ctx)
	}
	fl, err := t.liftChain(f.ID, q.Sequence, ch)
	if err != nil {
		ch.cancel()
		return err
	}
	t.chained.Go(func() { t.finishChain(fl, t.follow(ch, lanes)) })
	return nil
}

// chainable tells why a request cannot be a step.
func (t *flights) chainable(r *request, handle uint32, sequence uint64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.may(r, handle, sequence, 0); err != nil {
		return err
	}
	if n := len(r.program.out); n > driver.MaxOutputs {
		return exhausted("chain", fmt.Sprintf("request %d", handle), "outputs of a step", driver.MaxOutputs,
			"evaluate it alone")
	}
	return nil
}

// liftChain takes a flight for a chain, whose requests were found chainable. The session's
// turn is held.
func (t *flights) liftChain(frame, sequence uint64, ch *chain) (*flight, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fl := t.spare()
	if fl == nil {
		return nil, exhausted("chain", "", "evaluations in flight", driverabi.QueueDepth, "wait for one of them")
	}
	fl.frame, fl.client, fl.chain, fl.flying = frame, sequence, ch, true
	for _, r := range ch.held {
		r.fly()
	}
	return fl, nil
}

// follow runs the steps of a chain, until one fails or the chain's context ends.
func (t *flights) follow(ch *chain, lanes []*lane) error {
	defer ch.cancel()
	stop := context.AfterFunc(ch.ctx, func() {
		ch.mu.Lock()
		defer ch.mu.Unlock()
		if ch.now != 0 {
			t.dev.client.StopChain(ch.now)
		}
	})
	defer stop()
	for i, l := range lanes {
		select {
		case l.turn <- struct{}{}:
		case <-ch.ctx.Done():
			return ch.fault(i, ane.Deadline("chain", Name, ch.ctx.Err()))
		}
		err := t.step(ch, i, l.chain)
		<-l.turn
		if err != nil {
			return ch.fault(i, err)
		}
	}
	return nil
}

// step runs one request of a chain. The caller has the turn of its lane.
func (t *flights) step(ch *chain, i int, token uint64) error {
	ch.run(token)
	defer ch.run(0)
	t.counts.evaluations.Add(1)
	if err := t.dev.begin(token); err != nil {
		return err
	}
	// Whatever ends the context from here on stops the driver's chain: the driver then
	// refuses the inputs below or ends their run.
	if err := ch.ctx.Err(); err != nil {
		return ane.Deadline("chain", Name, err)
	}
	r := ch.list[i]
	in := len(r.program.in)
	if err := t.dev.outputs(token, r.ids[in:]); err != nil {
		return err
	}
	send := make([]byte, driverabi.InputsReadySize)
	driverabi.RequestToken.Put(send, token)
	r.program.prioritize(send, ch.steps[i].QoS)
	driverabi.PutSurfaces(send, r.ids[:in])
	err := t.dev.inputs(token, send)
	if ended := ch.ctx.Err(); err != nil && ended != nil {
		return ane.Deadline("chain", Name, ended)
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
	e := ane.Error{Engine: Name, Err: err}
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

// finishChain answers a chain. Its requests may be used again from the moment that the
// answer can be read.
func (t *flights) finishChain(fl *flight, err error) {
	frame, sequence, ch := fl.frame, fl.client, fl.chain
	t.answering.Add(1) // before the flight lands
	defer t.answering.Add(-1)
	t.mu.Lock()
	for _, r := range ch.held {
		r.land()
	}
	fl.flying, fl.chain = false, nil
	t.list.Give(fl)
	t.mu.Unlock()
	if err != nil {
		t.counts.failed.Add(1)
		t.out.fault(frame, err)
		return
	}
	t.out.done(wire.KindChain, frame, wire.Done{Sequence: sequence})
}
