package driver

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// Full is the answer to a request or an output set that the queue has no room for. Nothing has happened, and the client
// may retry after a completion.
const Full = driverabi.NoResources

// tries is how often a request binds its surfaces again after others unmap them.
const tries = 8

// order is what a request asks for, read once from its bytes, which stay the caller's.
type order struct {
	token    uint64 // of a program
	sequence uint32
	qos      uint32
	atOnce   bool // RunInline
	timeout  time.Duration
	doorbell uint64
	port     uint64 // 0: the caller waits for the end
	surfaces []byte // identifiers, as they lie in the request
	chain    *chain // whose inputs became ready, nil for other requests
	inputs   int    // of a chain: the bytes of surfaces that are not the output set's
}

// read is the order in b, and refuses what no client may ask for, and what this one may not.
func (c *Client) read(b []byte) (o order, err error) {
	qos, timeout, flags := driverabi.RequestQoS.Get(b), RequestTimeout.Get(b), RequestFlags.Get(b)
	priority, category := driverabi.RequestPriority.Get(b), driverabi.RequestCategory.Get(b)
	switch {
	case category != driverabi.IOCategory:
		return o, refuse(driverabi.BadArgument, fmt.Sprintf("io category %d", category),
			fmt.Sprintf("give %d", driverabi.IOCategory))
	case priority != driverabi.Priority(qos):
		return o, refuse(driverabi.BadArgument, fmt.Sprintf("priority %d with quality of service %d", priority, qos),
			fmt.Sprintf("give its priority, %d", driverabi.Priority(qos)))
	case qos == driverabi.QoSRealTime && !c.info.RealTime:
		return o, refuse(driverabi.NotPrivileged, driverabi.EntitlementRealTime, "send with another quality of service")
	case flags&^RunInline != 0:
		return o, refuse(driverabi.BadArgument, fmt.Sprintf("flags %#x", flags), "use RunInline or 0")
	case timeout > math.MaxInt64:
		return o, refuse(driverabi.BadArgument, fmt.Sprintf("time limit of %d ns", timeout),
			"give at most 2^63-1, or 0 for none")
	}
	return order{
		token: driverabi.RequestToken.Get(b), sequence: driverabi.RequestSequence.Get(b), qos: qos,
		atOnce: flags == RunInline, timeout: time.Duration(timeout), surfaces: driverabi.Surfaces(b),
	}, nil
}

// send is selector 2 of both clients. See driverabi.RequestToken and RequestFlags for what it takes. With a port it
// answers when the request is accepted. Without a port, or with RunInline and an idle queue, it answers when the
// request has run.
func send(n *connection, a *driverabi.Args) error {
	c := n.client
	o, err := c.read(a.StructIn)
	if err != nil {
		return err
	}
	o.doorbell, o.port = a.ScalarIn[0], a.AsyncPort
	switch {
	case o.doorbell >= driverabi.Doorbells:
		return refuse(driverabi.BadArgument, fmt.Sprintf("doorbell index %d", o.doorbell), "use an index from 0 to 31")
	case o.port != 0 && c.info.Wake == nil:
		return refuse(driverabi.BadArgument, "a port, of a client that nothing wakes",
			"attach with ClientInfo.Wake, or give no port")
	}
	return c.submit(&o, a.StructOut)
}

// submit hands a request to the engine. A quality of service that is no class has the
// priority and the queue that the documented table gives to all others.
func (c *Client) submit(o *order, out []byte) error {
	d := c.driver
	d.mu.Lock()
	b, err := c.admit(o)
	for try := 0; b == nil && err == nil; try++ {
		d.mu.Unlock()
		if try == tries { // other goroutines of the client unmap what is being bound
			return refuse(driverabi.Busy, "the surfaces come and go", "keep them mapped while requests name them")
		}
		if err := c.bind(o); err != nil {
			return err
		}
		d.mu.Lock()
		b, err = c.admit(o)
	}
	if err != nil {
		d.mu.Unlock()
		return err
	}
	r := c.accept(o, b)
	// A request with a port goes through the queue. Run at once, it would call Wake on the caller's goroutine, and a
	// Wake that sends the next request would never return.
	if d.running == nil && d.queue.n == 0 && (o.port == 0 || o.atOnce && c.pending.Load() == 1) {
		d.queue.charge(r.level)
		d.run(r)
		if d.queue.n > 0 {
			d.rung.Signal()
		}
		if o.port == 0 {
			return r.take(out)
		}
		d.deliver(r)
	} else {
		d.enqueue(r, uint32(o.doorbell))
		if o.port == 0 {
			<-r.ready
			d.mu.Lock()
			return r.take(out)
		}
	}
	answer(out, o.sequence, driverabi.Success, o.token, StatusAccepted)
	return nil
}

// admit decides on a request. Neither a binding nor a refusal: its surfaces have to be
// bound first, which only a prepared program can have. The caller holds the lock.
func (c *Client) admit(o *order) (*binding, error) {
	d := c.driver
	if c.quiet.Load() > 0 || d.closing {
		return nil, refuse(driverabi.NotOpen, "the connection, the client or the driver is closing",
			"shake hands again, or attach to another driver")
	}
	b := c.newest() // most requests are like the one before
	var own *attachment
	if b != nil && b.owner.token == o.token {
		own = b.owner
	} else if own = c.tokens[o.token]; own == nil {
		return nil, refuse(driverabi.BadArgument, "no program of this client has this token",
			"send the token that prepare answered with")
	}
	switch {
	case own.state != isPrepared: // its bindings may be closing
		return nil, refuse(driverabi.NotReady, "the program is not prepared", "prepare it with control selector 4")
	case o.chain != nil: // its requests have numbers of their own
		if err := o.fill(); err != nil {
			return nil, err
		}
	case int32(o.sequence-c.next) < 0: // serial numbers: they may wrap around
		return nil, refuse(driverabi.BadArgument, "the sequence number does not come after the last one",
			"count sequence numbers up; they may wrap around")
	case c.flying > 0 && int32(o.sequence-c.first) < 0 && c.laps(o.sequence):
		return nil, refuse(driverabi.BadArgument,
			"a request is in flight whose sequence number lies half the circle back",
			"count sequence numbers up by less, or wait for it")
	}
	if full := c.full(own); full != "" {
		d.counts.Levels[own.level(o.qos, c.hint)].Refused++
		return nil, refuse(Full, full, "send it again after a completion")
	}
	if b != nil && b.owner == own && b.surfaces == string(o.surfaces) {
		return b, nil
	}
	return own.bound[string(o.surfaces)], nil
}

// fill gives an order of a chain the outputs that are next. The caller holds the lock.
func (o *order) fill() error {
	switch {
	case o.chain.stopped:
		return refuse(driverabi.Aborted, "the chain was stopped", "set its procedure with direct selector 8")
	case len(o.chain.sets) == 0:
		return refuse(driverabi.BadArgument, "no output set", "enqueue outputs with direct selector 3")
	}
	o.surfaces = append(o.surfaces[:o.inputs], o.chain.sets[0]...)
	return nil
}

// full tells which bound leaves no room for one more request to own, "" for none. A
// client without requests is admitted even where the others fill the queue, so that
// they cannot keep it out. The caller holds the lock.
func (c *Client) full(own *attachment) string {
	d := c.driver
	switch {
	case c.flying >= d.depth:
		return "the client's part of the queue is full"
	case own.depth > 0 && own.flying > 0 && own.flying >= own.depth/d.busy: // c is one of the busy clients
		return "the instance's queue depth is reached"
	case d.flying >= d.total && c.flying > 0:
		return "the queue is full"
	}
	return ""
}

// laps reports whether sequence is so far ahead that a request in flight would seem to come after it. Two requests in
// flight could then have one number. The caller holds the lock.
func (c *Client) laps(sequence uint32) bool {
	back := uint32(0)
	for _, r := range c.requests.All() {
		if r.chain == nil && r.state != spare {
			back = max(back, c.next-r.sequence)
		}
	}
	c.first = c.next - back
	return int32(sequence-c.first) < 0
}

// accept takes a slot for a request that was admitted. The caller holds the lock.
func (c *Client) accept(o *order, b *binding) *request {
	d, own := c.driver, b.owner
	r := c.requests.Take(c.slot)
	r.binding, r.sequence, r.port, r.chain = b, o.sequence, o.port, o.chain
	r.level = own.level(o.qos, c.hint)
	if c.flying == 0 {
		d.busy++
		c.first = c.next // or later, which laps finds out
	}
	if o.chain == nil {
		c.next = o.sequence + 1
	} else {
		o.chain.sets = slices.Delete(o.chain.sets, 0, 1)
	}
	c.bound.MoveToFront(b.use)
	b.flying++
	own.flying++
	c.flying++
	c.pending.Add(1)
	d.flying++
	d.counts.Levels[r.level].Sent++
	r.arm(o.timeout)
	return r
}

// answer writes the answer to a request to out. Of chains there is none, and out is empty.
func answer(out []byte, sequence uint32, result driverabi.Return, token uint64, status uint32) {
	if len(out) == 0 {
		return
	}
	clear(out)
	driverabi.ReplySequence.Put(out, sequence)
	driverabi.ReplyResult.Put(out, uint32(result))
	driverabi.ReplyToken.Put(out, token)
	driverabi.ReplyStatus.Put(out, status)
}
