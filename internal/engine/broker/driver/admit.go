package driver

import (
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// refusal is a code with its reason, made once: a client that fills the queue must not
// cost memory for each refusal.
type refusal struct {
	ret driverabi.Return
	err error
}

func refused(ret driverabi.Return, why, hint string) *refusal {
	return &refusal{ret, fault("call", ret, why, hint)}
}

// again is what to do about a full queue.
const again = "send it again after a completion"

// The reasons. They are never written.
var (
	refusedStopped = refused(driverabi.Aborted, "the chain was stopped", "set its procedure with direct selector 8")
	refusedClosed  = refused(driverabi.NotOpen, "the connection, the client or the driver is closing",
		"shake hands again, or attach to another driver")
	refusedToken = refused(driverabi.BadArgument, "no program of this client has this token",
		"send the token that prepare answered with")
	refusedPrepare = &refusal{driverabi.NotReady, fault("call", ane.Because(driverabi.NotReady, ane.ErrNotLoaded),
		"the program is not prepared", "prepare it with control selector 4")}
	refusedSequence = refused(driverabi.BadArgument, "the sequence number does not come after the last one",
		"count sequence numbers up; they may wrap around")
	refusedLap = refused(driverabi.BadArgument,
		"a request is in flight whose sequence number lies half the circle back",
		"count sequence numbers up by less, or wait for it")
	refusedDepth    = refused(Full, "the client's part of the queue is full", again)
	refusedInstance = refused(Full, "the instance's queue depth is reached", again)
	refusedTotal    = refused(Full, "the queue is full", again)
)

// admit decides on a request. Neither a binding nor a refusal: its surfaces have to be
// bound first, which only a prepared program can have. The caller holds the lock.
func (c *Client) admit(o *order, ch *chain) (*binding, *refusal) {
	d := c.driver
	if c.quiet.Load() > 0 || d.closing {
		return nil, refusedClosed
	}
	b := c.bound.newest // most requests are like the one before
	var own *attachment
	if b != nil && b.owner.token == o.token {
		own = b.owner
	} else if own = c.tokens[o.token]; own == nil {
		return nil, refusedToken
	}
	switch {
	case own.state != isPrepared: // its bindings may be closing
		return nil, refusedPrepare
	case ch != nil && ch.stopped:
		return nil, refusedStopped
	case ch != nil: // its requests have numbers of their own
	case int32(o.sequence-c.next) < 0: // serial numbers: they may wrap around
		return nil, refusedSequence
	case c.flying > 0 && int32(o.sequence-c.first) < 0 && c.laps(o.sequence):
		return nil, refusedLap
	}
	if no := c.full(own); no != nil {
		d.levels[own.level(o.qos, c.hint)].Refused++
		return nil, no
	}
	if b != nil && b.owner == own && slices.Equal(b.surfaces, o.surfaces) {
		return b, nil
	}
	return own.find(o.surfaces), nil
}

// full tells which bound leaves no room for one more request to own, nil for none. A
// client without requests is admitted even where the others fill the queue, so that
// they cannot keep it out. The caller holds the lock.
func (c *Client) full(own *attachment) *refusal {
	d := c.driver
	switch {
	case c.flying >= d.opts.QueueDepth:
		return refusedDepth
	case own.depth > 0 && own.flying > 0 && own.flying >= own.depth/d.sharers(c):
		return refusedInstance
	case d.flying >= d.opts.TotalDepth && c.flying > 0:
		return refusedTotal
	}
	return nil
}

// laps reports whether sequence is so far ahead that a request in flight would seem to
// come after it, by which two in flight could have one number. The caller holds the lock.
func (c *Client) laps(sequence uint32) bool {
	back := uint32(0)
	for _, r := range c.requests.All() {
		if r.chain == nil && (r.state == waiting || r.state == running) {
			back = max(back, c.next-r.sequence)
		}
	}
	c.first = c.next - back
	return int32(sequence-c.first) < 0
}

// sharers is how many clients are busy when c is: an instance's queue depth is divided
// by it, but one request is always admitted. The caller holds the lock.
func (d *Driver) sharers(c *Client) int {
	if c.flying == 0 {
		return d.busy + 1
	}
	return d.busy
}

// accept takes a slot for a request that was admitted. The caller holds the lock.
func (c *Client) accept(o *order, ch *chain, b *binding) *request {
	d, own := c.driver, b.owner
	r := c.slot()
	r.binding, r.sequence, r.token, r.port, r.chain = b, o.sequence, o.token, o.port, ch
	r.level = own.level(o.qos, c.hint)
	first := c.flying == 0
	if first {
		d.busy++
	}
	switch {
	case ch == nil:
		if first {
			c.first = o.sequence
		}
		c.next = o.sequence + 1
	case first:
		c.first = c.next
	}
	c.bound.use(b)
	b.flying++
	own.flying++
	c.flying++
	c.pending.Add(1)
	d.flying++
	d.levels[r.level].Sent++
	return r
}
