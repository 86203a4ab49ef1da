package calls

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/server/resources"
	"github.com/anekit/anekit/internal/engine/broker/slots"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// call is one evaluation, or one chain, in flight. A client uses a call again and
// again; it holds what the driver's selector takes, so that evaluating needs no memory.
type call struct {
	port     uint64 // 1 more than its place among the calls
	kind     wire.Kind
	frame    uint64               // to be answered
	sequence uint64               // number of the client
	number   uint32               // for the driver
	requests []*resources.Request // each once
	one      [1]*resources.Request
	cancel   context.CancelFunc // of a chain
	flying   bool
	start    time.Time
	in       [driverabi.SendRequestSize]byte
	out      [driverabi.SendReplySize]byte
	bell     [1]uint64
	args     driverabi.Args
	state    atomic.Int32
	end      driver.Completion // written before state becomes woken
}

// States of an evaluation. The completion and the return from the driver's call come in
// either order; the second one answers. The change publishes what the first wrote.
const (
	flown int32 = iota
	woken       // the completion came first: the reader answers
	sent        // the call returned first: Deliver answers
)

// Counts count since the broker began.
type Counts struct {
	Evaluations, Failed atomic.Uint64
}

// Calls are the evaluations and chains of one client that are in flight.
type Calls struct {
	ctx      context.Context // ends with the connection
	counts   *Counts
	out      *Answers
	requests *resources.Requests
	chained  sync.WaitGroup // goroutines that run chains
	dev      *resources.Device
	done     chan *call // those to be answered, then nil; has room for all of them

	answering atomic.Int32 // ends that Deliver and chains are telling the client

	mu   sync.Mutex // guards what follows; never held during a wait
	list slots.List[call]
	next uint32 // sequence number of the next request to the driver
}

// New makes the calls of one client, of which there are none before Open.
func New(ctx context.Context, n *Counts, out *Answers, r *resources.Requests) *Calls {
	return &Calls{ctx: ctx, counts: n, out: out, requests: r,
		done: make(chan *call, driverabi.QueueDepth+1), list: slots.New[call](driverabi.QueueDepth)}
}

// Open gives the client its connections to the driver.
func (t *Calls) Open(dev *resources.Device) { t.dev = dev }

// Wait waits for the chains, when the driver has ended its client.
func (t *Calls) Wait() { t.chained.Wait() }

// Count counts the evaluations and chains that have not been answered.
func (t *Calls) Count() (n int) {
	t.mu.Lock()
	for _, c := range t.list.All() {
		if c.flying {
			n++
		}
	}
	t.mu.Unlock()
	return n + int(t.answering.Load()) // after the others: a call lands while it is answered
}

// find is the call of a client's sequence number. The caller holds the lock.
func (t *Calls) find(sequence uint64) *call {
	for _, c := range t.list.All() {
		if c.flying && c.sequence == sequence {
			return c
		}
	}
	return nil
}

// may tells why a request, which the client calls handle, cannot be evaluated. The caller
// holds the lock.
func (t *Calls) may(r *resources.Request, handle uint32, sequence, deadline uint64) error {
	fault := func(name string, number uint64, err error, hint string) error {
		return &ane.Error{Op: "evaluate", Engine: resources.Name, Name: fmt.Sprintf("%s %d", name, number), Err: err,
			Hint: hint}
	}
	switch {
	case r == nil:
		return resources.Unknown("evaluate", "request", handle)
	case !r.Program.Loaded:
		return fault("program", uint64(r.Program.Handle), ane.ErrNotLoaded, "load it first")
	case r.Busy.Load():
		return fault("request", uint64(handle), ane.ErrBusy, "bind one request for each evaluation in flight")
	case t.find(sequence) != nil:
		return fault("sequence", sequence, ane.ErrInUse, "count sequence numbers up")
	case int(r.Program.Flying.Load()) >= r.Program.Depth:
		return resources.Exhausted("evaluate", fmt.Sprintf("program %d", r.Program.Handle), "evaluations in flight",
			r.Program.Depth, "wait for one of them")
	case deadline > math.MaxInt64:
		return &ane.Error{Op: "evaluate", Engine: resources.Name, Err: ane.ErrLength,
			Detail: fmt.Sprintf("deadline of %d ns", deadline), Hint: "give nanoseconds from now, or 0"}
	}
	return nil
}

// fly takes a call that holds no request yet. The caller holds the lock and the connection's turn.
func (t *Calls) fly(kind wire.Kind, frame, sequence uint64) (*call, error) {
	c := t.list.Take(func(place int) *call {
		c := &call{port: uint64(place) + 1}
		c.args = driverabi.Args{AsyncPort: c.port, ScalarIn: c.bell[:], StructIn: c.in[:], StructOut: c.out[:]}
		return c
	})
	if c == nil {
		return nil, resources.Exhausted(kind.String(), "", "evaluations in flight", driverabi.QueueDepth,
			"wait for one of them")
	}
	c.kind, c.frame, c.sequence, c.flying, c.requests = kind, frame, sequence, true, c.one[:0]
	return c, nil
}

// holds has a call hold a request.
func (c *call) holds(r *resources.Request) {
	if !r.Busy.Swap(true) {
		r.Program.Flying.Add(1)
		c.requests = append(c.requests, r)
	}
}

// land gives a call back, also after an error.
func (t *Calls) land(c *call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range c.requests {
		r.Busy.Store(false)
		r.Program.Flying.Add(-1)
	}
	clear(c.requests)
	c.flying, c.requests, c.cancel = false, nil, nil
	c.end.Err = nil
	t.list.Give(c)
}

// answer ends a call. Its requests may be used again from the moment that the answer can be read.
func (t *Calls) answer(c *call, err error) {
	kind, frame, sequence := c.kind, c.frame, c.sequence
	t.land(c)
	if err != nil {
		t.counts.Failed.Add(1)
		t.out.Fault(frame, err)
		return
	}
	t.out.done(kind, frame, sequence)
}

// Cancel ends a call, which is answered all the same.
func (t *Calls) Cancel(q *wire.Cancel) (*wire.Cancelled, error) {
	t.mu.Lock()
	c := t.find(q.Sequence)
	var number uint32
	var cancel context.CancelFunc
	if c != nil {
		number, cancel = c.number, c.cancel
	}
	t.mu.Unlock()
	r := &wire.Cancelled{Sequence: q.Sequence}
	switch {
	case cancel != nil:
		cancel()
		r.State = wire.CancelRunning
	case c != nil:
		// What waits ends before Stop returns; what runs ends when the engine notices.
		switch t.dev.Stop(number) {
		case driver.WasWaiting:
			r.State = wire.CancelQueued
		case driver.WasRunning:
			r.State = wire.CancelRunning
		}
	}
	return r, nil
}
