package broker

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// longest is the longest sleep of a caller at the bell. After each sleep the caller looks whether the connection is
// over, and its context.
const longest = 8 * time.Millisecond

// rest is how long a caller rings again and again before it lets Go's scheduler run. A goroutine that does not within
// 10 ms loses its processor as soon as it sleeps, and the runtime's monitor then wakes every 20 us. With 32 clients on
// two cores that monitor took a third of their time.
const rest = 4 * time.Millisecond

// ring sends a frame through the bell, whose caller has locked ringing, or nothing. Then listen unlocks it.
func (l *link) ring(p *pending, f wire.Frame) error {
	l.rung++
	p.id = wire.BellID | l.rung&^wire.BellID
	f.ID = p.id
	var err error
	if l.over.Load() { // or a broker that was given up would be asked
		err = l.missed()
	} else {
		err = l.bell.Send(f)
	}
	if err != nil {
		l.ringing.Unlock()
	}
	return err
}

// listen waits at the bell for the answer to p. When ctx ends first, the error is wire.InFlight, and ringing is locked
// still, unless the broker had not seen the request.
func (l *link) listen(ctx context.Context, p *pending) error {
	if now := time.Now(); now.Sub(l.rested) > rest {
		l.rested = now
		runtime.Gosched()
	}
	for wait := max(slice, l.slept-l.slept/32); ; wait = min(2*wait, longest) {
		over := l.over.Load()
		if over {
			wait = 0 // what the broker answered before it ended is there now
		}
		f, err := l.bell.Receive(l.heard, wait)
		switch {
		case err == nil && f.ID == p.id:
			p.kind, p.body = f.Kind, append(p.body[:0], f.Payload...)
			l.slept = wait
			l.ringing.Unlock()
			return nil
		case err == nil:
			l.close(errStray(f.Kind), 0)
		case !errors.Is(err, wire.ErrTimeout):
			l.close(err, 0)
		}
		switch {
		case over:
			defer l.ringing.Unlock()
			if l.bell.Retract() {
				return l.missed()
			}
			return l.lost
		case l.over.Load() || ctx.Err() == nil:
		case l.bell.Retract():
			l.ringing.Unlock()
			return context.Cause(ctx)
		default:
			return inFlight(context.Cause(ctx))
		}
	}
}
