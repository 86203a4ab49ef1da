package driver

import (
	"fmt"
	"math"
	"time"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// Full is the answer to a request, or an output set, for which there is no room in the
// queue: nothing has happened, and it may be sent again after a completion.
const Full = driverabi.NoResources

// tries is how often a request binds its surfaces again after others unmap them.
const tries = 8

// send is selector 2 of both clients. See driverabi.RequestToken and RequestFlags for what
// it takes. With a port it answers when the request is accepted, or, with RunInline and
// an idle queue, when it has run; without a port when it has run.
func send(n *connection, a *driverabi.Args) driverabi.Return {
	var room [driverabi.MaxSurfaces]uint32
	o := read(a.StructIn, room[:0])
	o.doorbell, o.port = a.ScalarIn[0], a.AsyncPort
	_, ret := n.client.submit(&o, nil, a.StructOut)
	return ret
}

// check refuses what no client may ask for, and what this one may not.
func (c *Client) check(o *order) driverabi.Return {
	switch {
	case o.category != driverabi.IOCategory:
		return c.refuse(driverabi.BadArgument, fmt.Sprintf("io category %d", o.category),
			fmt.Sprintf("give %d", driverabi.IOCategory), nil)
	case o.priority != driverabi.Priority(o.qos):
		return c.refuse(driverabi.BadArgument, fmt.Sprintf("priority %d with quality of service %d", o.priority, o.qos),
			fmt.Sprintf("give its priority, %d", driverabi.Priority(o.qos)), nil)
	case o.qos == driverabi.QoSRealTime && !c.info.RealTime:
		return c.refuse(driverabi.NotPrivileged, driverabi.EntitlementRealTime, "send with another quality of service",
			nil)
	case o.doorbell >= driverabi.Doorbells:
		return c.refuse(driverabi.BadArgument, fmt.Sprintf("doorbell index %d", o.doorbell),
			"use an index from 0 to 31", nil)
	case o.flags&^RunInline != 0:
		return c.refuse(driverabi.BadArgument, fmt.Sprintf("flags %#x", o.flags), "use RunInline or 0", nil)
	case o.timeout > math.MaxInt64:
		return c.refuse(driverabi.BadArgument, fmt.Sprintf("time limit of %d ns", o.timeout),
			"give at most 2^63-1, or 0 for none", nil)
	case o.port != 0 && c.info.Wake == nil:
		return c.refuse(driverabi.BadArgument, "a port, of a client that nothing wakes",
			"attach with ClientInfo.Wake, or give no port", nil)
	case len(o.surfaces) > driverabi.MaxSurfaces:
		return c.refuse(driverabi.BadArgument, counted(len(o.surfaces), "surfaces"),
			fmt.Sprintf("name at most %d", driverabi.MaxSurfaces), nil)
	}
	return driverabi.Success
}

// submit checks a request and hands it to the engine. accepted tells whether it was,
// and so has one completion. ch is the chain whose inputs became ready, nil for other
// requests. A quality of service that is no class has the priority
// and the queue that the documented table gives to all others.
func (c *Client) submit(o *order, ch *chain, out []byte) (accepted bool, ret driverabi.Return) {
	if ret := c.check(o); ret != driverabi.Success {
		return false, ret
	}
	d := c.driver
	d.mu.Lock()
	b, no := c.admit(o, ch)
	for try := 0; b == nil && no == nil; try++ {
		d.mu.Unlock()
		if try == tries { // other goroutines of the client unmap what is being bound
			return false, c.refuse(driverabi.Busy, "the surfaces come and go",
				"keep them mapped while requests name them", nil)
		}
		if ret, err := c.bind(o.token, o.surfaces); err != nil {
			return false, c.refuse(ret, "the surfaces cannot be bound", "", err)
		}
		d.mu.Lock()
		b, no = c.admit(o, ch)
	}
	if no != nil {
		d.mu.Unlock()
		c.why.Store(&no.err)
		return false, no.ret
	}
	r := c.accept(o, ch, b)
	r.arm(time.Duration(o.timeout))
	if d.running != nil || d.queue.n > 0 || !c.inline(o) {
		d.enqueue(r, uint32(o.doorbell))
		if o.port == 0 {
			return true, r.collect(out)
		}
		answer(out, o.sequence, driverabi.Success, o.token, StatusAccepted)
		return true, driverabi.Success
	}
	d.queue.charge(r.level)
	d.run(r)
	if d.queue.n > 0 {
		d.rung.Signal()
	}
	if o.port == 0 {
		return true, r.take(out)
	}
	d.deliver(r)
	answer(out, o.sequence, driverabi.Success, o.token, StatusAccepted)
	return true, driverabi.Success
}

// inline reports whether a request that was accepted may run on its caller's goroutine.
// With a port that would call Wake from it, so that a completion which sends the next
// request from Wake would never return; it goes through the queue. The caller holds the
// lock.
func (c *Client) inline(o *order) bool {
	return o.port == 0 || o.flags&RunInline != 0 && c.pending.Load() == 1
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
