package broker

import (
	"context"
	"errors"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// call is one request and then its answer. A call may be used again once it has been
// answered.
type call struct {
	id   uint64        // of its frame; never 0
	done chan struct{} // gets one token when the answer is there
	late func(*call)   // set when the caller has given the call up: called instead
	rung bool          // it went through the bell

	// The answer; written before done gets its token.
	kind wire.Kind
	body []byte
	err  error // of the connection, instead of an answer
}

func newCall() *call { return &call{done: make(chan struct{}, 1)} }

// answer reads the answer to a request of kind k into p, or returns the fault that
// came instead.
func (c *call) answer(k wire.Kind, p wire.Payload) error {
	switch {
	case c.err != nil:
		return c.err
	case c.kind == wire.KindFault:
		var f wire.Fault
		if err := wire.Parse(c.body, &f); err != nil {
			return err
		}
		f.Engine = Name // for callers; it may come from the engine that the broker has
		for i := range f.Also {
			f.Also[i].Engine = Name
		}
		return f.Err()
	case c.kind != k|wire.Reply:
		return &wire.Error{Op: "receive", Kind: c.kind, Err: wire.ErrKind, Detail: "in answer to " + k.String()}
	}
	return wire.Parse(c.body, p)
}

// ask sends a request and reads its answer into reply. When ctx ends first, the error is
// wire.InFlight and late is called with the answer; a nil late means that the answer does
// not matter.
func (t *transport) ask(ctx context.Context, k wire.Kind, request, reply wire.Payload,
	late func(*call), fds ...int) error {
	if err := wire.Check(request); err != nil {
		return err
	}
	if late == nil {
		late = func(*call) {}
	}
	c := newCall()
	err := t.exchange(ctx, c, k, wire.Append(nil, request), fds...)
	if isInFlight(err) && !t.orphan(c, late) {
		<-c.done
		err = nil
	}
	if err != nil {
		return err
	}
	return t.understood(c.answer(k, reply))
}

// exchange sends a request for c and waits for its answer. When ctx ends first, the
// error is wire.InFlight.
func (t *transport) exchange(ctx context.Context, c *call, k wire.Kind, payload []byte, fds ...int) error {
	if k == wire.KindEvaluate && t.bell.take() {
		return t.ring(ctx, c, k, payload)
	}
	if err := t.enlist(c); err != nil {
		return err
	}
	if err := t.send(ctx, wire.Frame{Kind: k, ID: c.id, Payload: payload}, fds...); err != nil {
		t.withdraw(c)
		return err
	}
	if t.reading.TryLock() && t.lead(ctx, c) {
		return c.err
	}
	select {
	case <-c.done:
		return c.err
	default:
	}
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return inFlight(context.Cause(ctx))
	}
}

// enlist gives c an id. The call may have been used before.
func (t *transport) enlist(c *call) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost != nil {
		return t.missed()
	}
	if t.serial++; t.serial >= wire.BellID {
		t.serial = 1
	}
	c.id = t.serial
	c.err, c.late, c.rung = nil, nil, false
	t.calls[c.id] = c
	return nil
}

// delist removes the call of an id; nil when there is none. The caller holds mu.
func (t *transport) delist(id uint64) *call {
	c := t.calls[id]
	delete(t.calls, id)
	return c
}

// withdraw takes back a call that was not sent.
func (t *transport) withdraw(c *call) {
	t.mu.Lock()
	enlisted := t.delist(c.id)
	t.mu.Unlock()
	if enlisted == nil {
		<-c.done // the connection has ended
	}
}

// orphan gives a call up: late is called with the answer, by its reader, or once the
// broker has ended. It reports false when the answer is there already.
func (t *transport) orphan(c *call, late func(*call)) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.rung {
		return t.orphanRung(c, late)
	}
	if t.calls[c.id] != c {
		return false
	}
	c.late = late
	return true
}

// isInFlight reports whether what err is about is in flight still, and stays taken until
// the answer comes.
func isInFlight(err error) bool { return errors.Is(err, wire.InFlight) }

// settled is err of a request for its caller's own one, which is not in flight: the
// context's error in place of wire.InFlight.
func settled(err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok && e.State == wire.InFlight {
		return e.Cause
	}
	return err
}

// gone reports whether a call failed because its connection is over, and with it
// everything that the call was about.
func gone(err error) bool { return errors.Is(err, wire.Lost) || errors.Is(err, wire.Unsent) }

// unsent reports whether a call may be made again at the next broker.
func unsent(err error) bool { return errors.Is(err, wire.Unsent) && !errors.Is(err, errEngineClosed) }

// attempts is how often a call is made at most while one broker after the other ends
// before it saw the request.
const attempts = 3

// retry calls f until it fails for another reason than a broker that ended before it saw
// the request, attempts times at most.
func retry(f func() error) error {
	err := f()
	for made := 1; made < attempts && unsent(err); made++ {
		err = f()
	}
	return err
}
