package server

import (
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// reply answers a frame. A client that has gone is noticed by whoever reads, so
// that failing to send is no error of the call.
func (c *session) reply(f *wire.Frame, p wire.Payload) error {
	if err := wire.Check(p); err != nil {
		return err
	}
	c.send(wire.Frame{Kind: f.Kind | wire.Reply, ID: f.ID, Payload: p.Append(nil)})
	return nil
}

// fault answers a frame that was refused.
func (c *session) fault(id uint64, err error) {
	c.counts.faults.Add(1)
	p := wire.NewFault(err)
	c.send(wire.Frame{Kind: wire.KindFault, ID: id, Payload: p.Append(nil)})
}

// send sends one frame. One that cannot be sent means the end of the connection,
// which the client would otherwise wait on for an answer.
func (c *session) send(f wire.Frame) {
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	c.sendLocked(f)
}

// sendDone answers an Evaluate that succeeded, without memory of its own.
func (c *session) sendDone(id uint64, p wire.Done) {
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	c.answer = p.Append(c.answer[:0])
	c.sendLocked(wire.Frame{Kind: wire.KindEvaluate | wire.Reply, ID: id, Payload: c.answer})
}

// sendLocked sends through whatever the question came by.
func (c *session) sendLocked(f wire.Frame) {
	if f.ID&wire.BellID != 0 && c.bell != nil {
		_ = c.bell.Send(f) // fails only when the session has ended
		return
	}
	c.sending.Store(c.ticks.Load())
	err := c.conn.Send(f)
	c.sending.Store(0)
	if err != nil {
		_ = c.conn.Close() // never fails
	}
}
