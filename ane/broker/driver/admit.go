package driver

import (
	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/driverabi"
)

// refusal is a code with its reason, made once: a client that fills the queue must not
// cost memory for each refusal.
type refusal struct {
	ret driverabi.Return
	err error
}

func refused(ret driverabi.Return, why string) *refusal {
	return &refusal{ret, fault("call", ret, why, "")}
}

var (
	refusedClosed   = refused(driverabi.NotOpen, "the client or the driver is closing")
	refusedToken    = refused(driverabi.BadArgument, "no program of this client has this token")
	refusedPrepare  = &refusal{driverabi.NotReady, fault("call", ane.Because(driverabi.NotReady, ane.ErrNotLoaded), "the program is not prepared", "prepare it with control selector 4")}
	refusedSequence = refused(driverabi.BadArgument, "the sequence number does not come after the last one")
	refusedDepth    = refused(Full, "the client's part of the queue is full; send it again after a completion")
	refusedInstance = refused(Full, "the instance's queue depth is reached; send it again after a completion")
	refusedTotal    = refused(Full, "the queue is full; send it again after a completion")
)

// admit decides on a request. Neither a binding nor a refusal: its surfaces have to be
// bound first, which only a prepared program can have. The caller holds the lock.
func (c *Client) admit(s *driverabi.SendRequest, surfaces []uint32) (*binding, *refusal) {
	d := c.driver
	if c.closing || c.barred > 0 || d.closing {
		return nil, refusedClosed
	}
	own := c.tokens[s.Token]
	switch {
	case own == nil:
		return nil, refusedToken
	case own.state != isPrepared: // its bindings may be closing
		return nil, refusedPrepare
	case int32(s.Sequence-c.next) < 0: // serial numbers: they may wrap around
		return nil, refusedSequence
	case c.flying >= d.opts.QueueDepth:
		return nil, refusedDepth
	case own.depth > 0 && own.flying >= own.depth/d.sharers(c) && own.flying > 0:
		return nil, refusedInstance
	case d.flying >= d.opts.TotalDepth:
		return nil, refusedTotal
	}
	return own.find(surfaces), nil
}

// sharers is how many clients are busy when c is: an instance's queue depth is divided
// by it, but one request is always let in. The caller holds the lock.
func (d *Driver) sharers(c *Client) int {
	if c.flying == 0 {
		return d.busy + 1
	}
	return d.busy
}

// accept takes a slot for a request that was admitted. The caller holds the lock.
func (c *Client) accept(s *driverabi.SendRequest, b *binding, port uint64) *request {
	d, own := c.driver, b.owner
	r := c.slot()
	r.binding, r.sequence, r.token, r.port = b, s.Sequence, s.Token, port
	r.level = levelOf(s.QoS)
	if own.flags&PowerSaving != 0 {
		r.level = min(r.level+1, levels-1)
	}
	if own.flags&MoreAggressive != 0 || c.hint == HintBackground {
		r.level = levels - 1
	}
	c.next = s.Sequence + 1
	own.turn++
	b.used = own.turn
	b.flying++
	own.flying++
	if c.flying++; c.flying == 1 {
		d.busy++
	}
	c.pending++
	d.flying++
	return r
}

// levelOf is the queue of a quality of service. Where the documented table knows none,
// the order of the classes is ours.
func levelOf(qos uint32) int {
	if index, known := driverabi.QueueIndex(qos); known {
		return int(index)
	}
	switch qos {
	case driverabi.QoSUserInteractive:
		return 3
	case driverabi.QoSUserInitiated:
		return 4
	case driverabi.QoSUtility:
		return 6 // "differs from 21"
	case driverabi.QoSBackground:
		return 7
	}
	return 5
}
