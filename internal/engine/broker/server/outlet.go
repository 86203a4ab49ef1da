package server

import (
	"sync"
	"sync/atomic"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// outlet is the way of a session's answers to its client: the connection and the bell.
// Its methods may be called from several goroutines.
type outlet struct {
	conn   *wire.Conn
	bell   *wire.Bell // nil for a client that has none; set before it is admitted
	ticks  *atomic.Int64
	faults *atomic.Uint64

	sending atomic.Int64 // tick at which the present Send began; 0 for none
	mu      sync.Mutex
	payload []byte // that is being sent
}

// reply answers a frame. The reader notices a client that has gone, so that failing to
// send is no error of the call.
func (o *outlet) reply(f *wire.Frame, p wire.Payload) error {
	if err := wire.Check(p); err != nil {
		return err
	}
	o.send(wire.Frame{Kind: f.Kind | wire.Reply, ID: f.ID, Payload: wire.Append(nil, p)})
	return nil
}

// fault answers a frame that was refused.
func (o *outlet) fault(id uint64, err error) {
	o.faults.Add(1)
	p := wire.NewFault(err)
	o.send(wire.Frame{Kind: wire.KindFault, ID: id, Payload: wire.Append(nil, &p)})
}

// done answers a run that succeeded, without memory of its own.
func (o *outlet) done(kind wire.Kind, id uint64, p wire.Done) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.payload = wire.Append(o.payload[:0], &p)
	o.sendLocked(wire.Frame{Kind: kind | wire.Reply, ID: id, Payload: o.payload})
}

func (o *outlet) send(f wire.Frame) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sendLocked(f)
}

// sendLocked sends one frame the way its question came. A frame that cannot be sent ends
// the connection, where the client would wait for the answer.
func (o *outlet) sendLocked(f wire.Frame) {
	if f.ID&wire.BellID != 0 && o.bell != nil {
		_ = o.bell.Send(f) // fails only when the session has ended
		return
	}
	o.sending.Store(o.ticks.Load())
	err := o.conn.Send(f)
	o.sending.Store(0)
	if err != nil {
		o.conn.End()
	}
}
