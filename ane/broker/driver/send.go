package driver

import (
	"math"
	"time"

	"github.com/anekit/anekit/ane/driverabi"
)

// Full is the answer to a request, or an output set, for which there is no room in the
// queue: nothing has happened, and it may be sent again after a completion.
const Full = driverabi.NoResources

// send is selector 2 of both clients. See driverabi.SendRequest and Submit for what it
// takes. With a port it answers when the request is accepted, or, with RunInline and
// an idle queue, when it has run; without a port when it has run.
func send(n *connection, a *driverabi.Args) driverabi.Return {
	var s driverabi.SendRequest
	if err := s.Decode(a.StructIn); err != nil {
		return n.client.refuse(driverabi.BadArgument, "", err)
	}
	var room [driverabi.MaxSurfaces]uint32
	_, ret := n.client.submit(&s, s.Surfaces(room[:0]), a.ScalarIn[0], a.AsyncPort, a.StructOut)
	return ret
}

// submit checks a request and hands it to the engine. accepted tells whether it was,
// and so has one completion. A quality of service that is no class has the priority
// and the queue that the documented table gives to all others.
func (c *Client) submit(s *driverabi.SendRequest, surfaces []uint32, doorbell, port uint64, out []byte) (accepted bool, ret driverabi.Return) {
	var x Submit
	x.Decode(s)
	switch {
	case s.Category != driverabi.IOCategory:
		return false, c.refuse(driverabi.BadArgument, "io category", nil)
	case s.Priority != driverabi.Priority(s.QoS):
		return false, c.refuse(driverabi.BadArgument, "the priority is not that of the quality of service", nil)
	case s.QoS == driverabi.QoSRealTime && !c.info.RealTime:
		return false, c.refuse(driverabi.NotPrivileged, "com.apple.ane.realtime-priority-client", nil)
	case doorbell >= driverabi.Doorbells:
		return false, c.refuse(driverabi.BadArgument, "doorbell index", nil)
	case x.Flags&^RunInline != 0 || x.Timeout > math.MaxInt64:
		return false, c.refuse(driverabi.BadArgument, "flags or time limit", nil)
	case port != 0 && c.info.Wake == nil:
		return false, c.refuse(driverabi.BadArgument, "a port, of a client without Wake", nil)
	}
	d := c.driver
	d.mu.Lock()
	b, err := c.admit(s, surfaces)
	for try := 0; b == nil && err == nil; try++ {
		d.mu.Unlock()
		if try == 8 { // other goroutines of the client unmap what is being bound
			return false, c.refuse(driverabi.Busy, "the surfaces come and go", nil)
		}
		if ret, err := c.bind(s.Token, surfaces); err != nil {
			return false, c.refuse(ret, "the surfaces cannot be bound", err)
		}
		d.mu.Lock()
		b, err = c.admit(s, surfaces)
	}
	if err != nil {
		d.mu.Unlock()
		c.why.Store(&err.err)
		return false, err.ret
	}
	r := c.accept(s, b, port)
	r.arm(time.Duration(x.Timeout))
	if d.running == nil && d.queue.n == 0 && (port == 0 || x.Flags&RunInline != 0) {
		d.queue.charge(r.level)
		if port == 0 {
			d.run(r)
			return true, c.outcome(r, out)
		}
		d.run(r)
		answer(out, s)
		return true, driverabi.Success
	}
	r.state = waiting
	d.queue.push(r)
	d.ring(uint32(doorbell))
	d.mu.Unlock()
	if port == 0 {
		return true, c.outcome(r, out)
	}
	answer(out, s)
	return true, driverabi.Success
}

// outcome waits for a request without a port.
func (c *Client) outcome(r *request, out []byte) driverabi.Return {
	ret, err := r.collect(out)
	if ret != driverabi.Success {
		return c.refuse(ret, "the request did not run to its end", err)
	}
	return ret
}

// answer writes the answer of a request with a port.
func answer(out []byte, s *driverabi.SendRequest) {
	reply := driverabi.SendReply{Sequence: s.Sequence, Token: s.Token, Status: StatusAccepted}
	_ = reply.Encode(out) // the dispatcher saw to its size
}
