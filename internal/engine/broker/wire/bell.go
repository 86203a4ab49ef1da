package wire

import (
	"fmt"
	"sync"
	"time"
)

// Bell is memory that both ends of a connection have mapped, with room for one frame each way. It carries frequent
// requests with short answers, beside the socket. A frame takes two copies of its bytes and one wake-up, where the
// socket takes the system's buffers too.
//
// Send puts a frame into the box of the other end and wakes it; the next one follows the answer to the last, or
// replaces the last. Until the other end has taken a frame it can be taken back. Frames in a Bell carry no descriptors,
// and their IDs have BellID set, so that the answer goes the same way. Nothing that the other end writes there is
// trusted: a frame is copied out before it is parsed. The end of the other process shows on the socket alone.
//
// Send may be called from several goroutines, Receive from one at a time. Close may be
// called at any time.
type Bell struct {
	meter
	send     sync.Mutex
	last     uint32 // count of the last frame that was sent; send guards it
	seen     uint32 // count that Receive has seen; the receiver has it
	own, far box    // filled by the other end, and by this one
	memory
}

// BellID is set in the ID of each frame that goes through a Bell.
const BellID = 1 << 63

// Send puts a frame where the other end finds it.
//
// Errors: ErrClosed, ErrKind, ErrValue, ErrLong. Nothing was sent then.
func (b *Bell) Send(f Frame) error {
	const op = "ring"
	if err := f.sendable(op, MaxPayload); err != nil {
		return err
	}
	if err := f.rung(op); err != nil {
		return err
	}
	if !b.enter() {
		return closed(op)
	}
	defer b.leave()
	b.send.Lock()
	defer b.send.Unlock()
	b.last = b.far.put(&f)
	b.sent(&f)
	return nil
}

// Receive takes the next frame out of the box, once there is one. It sleeps once, for wait at
// most, and may return ErrTimeout before that. buf takes MaxFrame bytes; the Payload is part
// of it.
//
// Errors: ErrTimeout; ErrClosed after Close of this end; others as those of Conn.Receive are
// about one frame.
func (b *Bell) Receive(buf []byte, wait time.Duration) (Frame, error) {
	const op = "answer the bell"
	if len(buf) < MaxFrame {
		return Frame{}, &Error{Op: op, Err: ErrShort, Detail: fmt.Sprintf("a buffer of %d bytes", len(buf)),
			Hint: "pass MaxFrame bytes"}
	}
	if !b.enter() {
		return Frame{}, closed(op)
	}
	defer b.leave()
	rings := b.own.await(b.seen, wait)
	if b.over() {
		return Frame{}, closed(op)
	}
	if rings == b.seen {
		return Frame{}, errTimeout
	}
	b.seen = rings
	if !b.own.claim(rings) {
		return Frame{}, errTimeout // taken back
	}
	n := b.own.copy(buf)
	if n > MaxFrame {
		return Frame{}, &Error{Op: op, Err: ErrLong, Detail: fmt.Sprintf("%d bytes, at most %d", n, MaxFrame)}
	}
	b.received(int(n))
	f, err := ParseFrame(buf[:n])
	if err == nil {
		err = f.rung(op)
	}
	return f, err
}

// rung refuses a frame that is none of a bell.
func (f *Frame) rung(op string) error {
	if f.Flags == 0 && f.ID&BellID != 0 {
		return nil
	}
	return f.fault(op, "id", 16, ErrValue, fmt.Sprintf("flags %#x, id %#x in a bell", f.Flags, f.ID))
}

// Retract takes back the last frame sent. True means that the other end has not taken the frame and never will, so the
// caller may send it elsewhere. False after Close.
func (b *Bell) Retract() bool {
	if !b.enter() {
		return false
	}
	defer b.leave()
	b.send.Lock()
	defer b.send.Unlock()
	return b.far.claim(b.last)
}

// Traffic reads the counters; those of a nil Bell are 0.
func (b *Bell) Traffic() Traffic {
	if b == nil {
		return Traffic{}
	}
	return b.read()
}
