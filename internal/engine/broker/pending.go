package broker

import (
	"context"
	"errors"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// pending is one request and then its answer. It may be used again once it has been answered.
type pending struct {
	id   uint64        // of its frame; never 0
	done chan struct{} // gets one token when the answer came over the socket

	// The answer; written before done gets its token.
	kind wire.Kind
	body []byte
	err  error // of the connection, instead of an answer
}

func newPending() *pending { return &pending{done: make(chan struct{}, 1)} }

// answer reads the answer to a request of kind k into reply, or returns the fault that came instead.
func (p *pending) answer(k wire.Kind, reply wire.Payload) error {
	switch p.kind {
	case wire.KindFault:
		var f wire.Fault
		if err := wire.Parse(p.body, &f); err != nil {
			return err
		}
		f.Engine = Name // for callers; it may come from the engine that the broker has
		for i := range f.Also {
			f.Also[i].Engine = Name
		}
		return f.Err()
	case k | wire.Reply:
		return wire.Parse(p.body, reply)
	}
	return &wire.Error{Op: "receive", Kind: p.kind, Err: wire.ErrKind, Detail: "in answer to " + k.String()}
}

// ask sends a request and reads its answer into reply. It returns when the broker has answered or gone.
func (l *link) ask(k wire.Kind, request, reply wire.Payload, fds ...int) error {
	if err := wire.Check(request); err != nil {
		return err
	}
	p := newPending()
	if err := l.exchange(context.Background(), p, k, wire.Append(nil, request), fds...); err != nil {
		return err
	}
	return l.understood(p.answer(k, reply))
}

// exchange sends a request and waits for its answer. When ctx ends first, the error is wire.InFlight, and await has to
// follow.
func (l *link) exchange(ctx context.Context, p *pending, k wire.Kind, payload []byte, fds ...int) error {
	evaluates := k == wire.KindEvaluate || k == wire.KindChain
	var err error
	if evaluates && l.hello.Bell && l.ringing.TryLock() {
		err = l.ring(p, wire.Frame{Kind: k, Payload: payload})
	} else {
		err = l.send(ctx, p, wire.Frame{Kind: k, Payload: payload}, fds...)
	}
	if err != nil {
		return err
	}
	return l.await(ctx, p)
}

// await waits for the answer to what was sent, by the road that the request took.
func (l *link) await(ctx context.Context, p *pending) error {
	if p.id&wire.BellID != 0 {
		return l.listen(ctx, p)
	}
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return inFlight(context.Cause(ctx))
	}
}

// send sends a frame over the socket, or nothing. It waits for room until ctx ends.
func (l *link) send(ctx context.Context, p *pending, f wire.Frame, fds ...int) error {
	if err := l.enlist(p); err != nil {
		return err
	}
	f.ID = p.id
	err := l.conn.Send(f, fds...)
	for errors.Is(err, wire.ErrTimeout) && ctx.Err() == nil {
		err = l.conn.Send(f, fds...)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, wire.ErrTimeout):
		err = context.Cause(ctx)
	case errors.Is(err, wire.ErrClosed):
		l.close(err, 0)
		err = l.missed()
	}
	if l.delist(p.id) == nil {
		<-p.done // the connection has ended
	}
	return err
}

// enlist gives p an id.
func (l *link) enlist(p *pending) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil {
		return l.missed()
	}
	if l.last++; l.last >= wire.BellID {
		l.last = 1
	}
	p.id, p.err = l.last, nil
	l.pending[p.id] = p
	return nil
}

// delist returns the request of an id; nil when there is none.
func (l *link) delist(id uint64) *pending {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pending[id]
	delete(l.pending, id)
	return p
}
