package broker

import (
	"context"
	"errors"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// flight is an evaluation or a chain whose caller stops waiting. Its requests are taken and
// their Blocks held until the broker has ended it.
type flight struct {
	session  *session
	call     *call
	sequence uint64
	requests []*invocation
}

// hold keeps the Blocks open until free is called.
func (f flight) hold() (free func()) {
	var held []*block
	for _, v := range f.requests {
		for _, t := range v.tensors {
			if b := t.Block(); b.Retain() == nil { // fails for a Block that is closed already
				held = append(held, b)
			}
		}
	}
	return func() {
		for _, b := range held {
			b.Release()
		}
	}
}

// yield gives the requests back.
func (f flight) yield() {
	for _, v := range f.requests {
		v.yield()
	}
}

// giveUp leaves the run to the broker, and cancels it there. The Blocks are held until the
// broker answers, or has ended. False when it has answered.
func (f flight) giveUp() bool {
	free := f.hold()
	if !f.session.orphan(f.call, func(*call) {
		<-f.session.queue
		free() // first: Close of a request waits for its turn, and then nothing holds its Blocks
		f.yield()
	}) {
		free()
		return false
	}
	f.session.post(wire.KindCancel, &wire.Cancel{Sequence: f.sequence})
	return true
}

// outlast waits until the broker whose connection ended in the middle of the run can write
// to the Blocks no more: its process may not have ended yet. When ctx ends first, the run is
// in flight until then.
func (f flight) outlast(ctx context.Context, lost error) error {
	select {
	case <-f.session.buried:
		return lost
	default:
	}
	select {
	case <-f.session.buried:
		return lost
	case <-ctx.Done():
	}
	free := f.hold()
	go func() {
		<-f.session.buried
		free()
		f.yield()
	}()
	return inFlight(lost)
}

// remaining is the deadline of ctx as the broker takes it: nanoseconds from now, 0 for
// none.
func remaining(ctx context.Context) uint64 {
	if end, ok := ctx.Deadline(); ok {
		return uint64(max(time.Until(end), 1))
	}
	return 0
}

// overdue is the error of a run that the broker ended at the deadline, before the
// context did.
func overdue(op string, err error) error {
	if errors.Is(err, ane.ErrDeadline) && !errors.Is(err, context.Canceled) &&
		!errors.Is(err, context.DeadlineExceeded) {
		return ane.Deadline(op, Name, context.DeadlineExceeded)
	}
	return err
}
