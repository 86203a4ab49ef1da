package calls

import (
	"sync"
	"sync/atomic"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// Answers is the way of the answers to one client: the connection and the bell.
// Its methods may be called from several goroutines.
type Answers struct {
	Conn   *wire.Conn
	Bell   *wire.Bell // nil for a client that has none; set before it is admitted
	Faults *atomic.Uint64

	mu      sync.Mutex
	payload []byte // of the next frame
	last    wire.Done
}

// Reply answers a frame. The reader notices a client that has gone, so that failing to
// send is no error of the call.
func (o *Answers) Reply(f *wire.Frame, p wire.Payload) error {
	if err := wire.Check(p); err != nil {
		return err
	}
	o.send(f.Kind|wire.Reply, f.ID, p)
	return nil
}

// Fault answers a frame that was refused.
func (o *Answers) Fault(id uint64, err error) {
	o.Faults.Add(1)
	p := wire.NewFault(err)
	o.send(wire.KindFault, id, &p)
}

// done answers a run that succeeded, without memory of its own.
func (o *Answers) done(kind wire.Kind, id, sequence uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = wire.Done{Sequence: sequence}
	o.sendLocked(kind|wire.Reply, id, &o.last)
}

func (o *Answers) send(kind wire.Kind, id uint64, p wire.Payload) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sendLocked(kind, id, p)
}

// sendLocked sends one frame the way its question came. A frame that cannot be sent ends
// the connection, where the client would wait for the answer.
func (o *Answers) sendLocked(kind wire.Kind, id uint64, p wire.Payload) {
	body := wire.Append(o.payload[:0], p)
	if cap(body) <= wire.MaxPayload { // longer ones are rare
		o.payload = body
	}
	f := wire.Frame{Kind: kind, ID: id, Payload: body}
	if id&wire.BellID != 0 && o.Bell != nil {
		_ = o.Bell.Send(f) // fails only when the client has gone
		return
	}
	if err := o.Conn.Send(f); err != nil {
		_ = o.Conn.Close() // never fails
	}
}
