package hal

import (
	"context"
	"fmt"
	"slices"

	"github.com/anekit/anekit/unimem"
)

// Queue starts submissions of a Device. Device.Queue returns it. Its calls never block; the signals of a submission tell
// its outcome. The error of a call is about its arguments, the modes of command buffers, or a closed Device;
// then nothing starts.
//
// ctx bounds a submission, not the call: when ctx ends before the waits are met, or stops the batch, the signals fail
// with its error.
type Queue struct{ device *Device }

// Execute runs the commands of buffers, one buffer after another, once every wait is reached, and then signals. Without
// buffers it passes the waits on to the signals.
//
// Errors: ErrClosed for a nil, zero or closed object, and for a Point without Semaphore; ane.ErrForeign for a
// CommandBuffer of another Device; ErrMode for one that was not ended, was refused by End, was recorded into after End,
// or is OneShot and was submitted before; ErrCycle with FindCycles.
func (q *Queue) Execute(ctx context.Context, waits, signals []Point, buffers ...*CommandBuffer) error {
	d, err := q.check("execute", waits, signals)
	if err != nil {
		return err
	}
	ctx = given(ctx)
	if len(buffers) == 0 && !d.trace.on && !d.config.cycles {
		if done, err := d.pass(ctx, waits, signals); done {
			return err
		}
	}
	s := &submission{device: d, ctx: ctx, work: execute, buffers: slices.Clone(buffers)}
	for _, c := range buffers {
		code, err := c.fit(d)
		if err != nil {
			return err
		}
		s.codes = append(s.codes, code)
	}
	return d.submit(s, waits, signals)
}

// Alloca makes a Buffer whose memory, size zero bytes, is allocated once every wait is reached; then it signals. Its
// Ranges may be recorded at once. A failed allocation fails the signals. The caller closes the Buffer, or passes it to
// Dealloca. Errors: those of Execute, and unimem.ErrZeroSize and ErrSize.
func (q *Queue) Alloca(ctx context.Context, waits, signals []Point, size int) (*Buffer, error) {
	d, err := q.check("alloca", waits, signals)
	if err != nil {
		return nil, err
	}
	if size <= 0 {
		kind := unimem.ErrZeroSize
		if size < 0 {
			kind = unimem.ErrSize
		}
		return nil, newError("alloca", kind, fmt.Sprintf("%d bytes", size), "give 1 or more")
	}
	b := &Buffer{device: d, size: size}
	b.region.own = b
	s := &submission{device: d, ctx: given(ctx), work: alloca, buffer: b}
	if err := d.submit(s, waits, signals); err != nil {
		return nil, err
	}
	return b, nil
}

// Dealloca frees the memory of b once every wait is reached; then it signals. Batches that have begun on it end first;
// those that begin later fail with ErrClosed, and so does another Dealloca. It accepts Buffers of Alloca, NewBuffer and
// Import. Errors: those of Execute, and ane.ErrForeign.
func (q *Queue) Dealloca(ctx context.Context, waits, signals []Point, b *Buffer) error {
	d, err := q.check("dealloca", waits, signals)
	if err != nil {
		return err
	}
	switch {
	case !b.valid():
		return closed("dealloca", "nil or zero Buffer", "pass a Buffer of Alloca")
	case b.device != d:
		return foreign("Buffer")
	}
	return d.submit(&submission{device: d, ctx: given(ctx), work: dealloca, buffer: b}, waits, signals)
}

// check returns the Device, or the reason why no submission with these points is possible.
func (q *Queue) check(op string, waits, signals []Point) (*Device, error) {
	if q == nil || !q.device.valid() {
		return nil, closed(op, "nil or zero Queue", "take it from Device.Queue")
	}
	for i := range waits {
		if !waits[i].Semaphore.valid() {
			return nil, noSemaphore(op, "wait", i)
		}
	}
	for i := range signals {
		if !signals[i].Semaphore.valid() {
			return nil, noSemaphore(op, "signal", i)
		}
	}
	return q.device, nil
}

func noSemaphore(op, what string, i int) error {
	return closed(op, fmt.Sprintf("%s %d has a nil or zero Semaphore", what, i), "make it by NewSemaphore")
}

// pass is an Execute without buffers whose waits are decided: it needs no submission. done is false if they are not.
func (d *Device) pass(ctx context.Context, waits, signals []Point) (done bool, err error) {
	cause, pending := ctx.Err(), false
	for i := range waits {
		decided, err := waits[i].Semaphore.state(waits[i].Value)
		if err != nil {
			cause = err
			break
		}
		pending = pending || !decided
	}
	if cause == nil && pending {
		return false, nil
	}
	d.mu.Lock()
	err = d.open("execute")
	d.mu.Unlock()
	if err != nil {
		return true, err
	}
	d.stats.submissions.Add(1)
	if cause != nil {
		fail(signals, cause, work{}).run()
	} else {
		raise(signals, work{}).run()
	}
	return true, nil
}

// raise signals points in their order. One that goes backwards fails its Semaphore.
func raise(signals []Point, todo work) work {
	for i := range signals {
		s := signals[i].Semaphore
		var err error
		if todo, err = s.signal(signals[i].Value, todo); err != nil {
			todo = s.fail(asFailure(err), todo) // a Semaphore that has failed stays as it is
		}
	}
	return todo
}

// fail fails the Semaphores of points.
func fail(signals []Point, cause error, todo work) work {
	f := asFailure(cause)
	for i := range signals {
		todo = signals[i].Semaphore.fail(f, todo)
	}
	return todo
}
