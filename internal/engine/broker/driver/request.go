package driver

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// States of a request. The Driver's lock guards them.
const (
	spare   = iota // on its client's list, or its waiter has not taken the result yet
	waiting        // in the queue
	running
)

// request is one slot of a client, used again and again. The Driver's lock guards all
// but life.
type request struct {
	client  *Client
	state   int
	level   int
	outer   *request      // that has yielded to this one
	resumed time.Duration // when it went on after it yielded, by Driver.clock; for the engine's goroutine
	since   time.Duration // when it came to the queue, by Driver.clock

	binding  *binding
	sequence uint32
	port     uint64 // 0: a caller waits for ready
	chain    *chain // whose inputs became ready, nil for other requests

	life  *life
	due   time.Time // zero: never
	timer *time.Timer
	ready chan struct{} // for one result
	err   error         // which has a code
}

// slot makes a request for the list of a client.
func (c *Client) slot(int) *request {
	r := &request{client: c, ready: make(chan struct{}, 1)}
	r.life = &life{request: r}
	return r
}

// arm gives r its time limit, 0 for none.
func (r *request) arm(timeout time.Duration) {
	if timeout <= 0 {
		return
	}
	r.due = time.Now().Add(timeout)
	if r.timer == nil {
		r.timer = time.AfterFunc(timeout, r.expire)
	} else {
		r.timer.Reset(timeout)
	}
}

// expire ends r when its time is over. A timer of an earlier request that comes late
// finds a later due time.
func (r *request) expire() {
	d := r.client.driver
	d.mu.Lock()
	if r.due.IsZero() || time.Now().Before(r.due) {
		d.mu.Unlock()
		return
	}
	d.abort(r, context.DeadlineExceeded)
}

// abort ends a request that has not ended: out of the queue at once, in the engine by
// its context. The caller holds the lock, which abort releases.
func (d *Driver) abort(r *request, cause error) {
	switch r.state {
	case waiting:
		d.queue.remove(r)
		d.leaves(r)
		r.settle(cause)
		d.deliver(r)
		return
	case running: // with the lock, so that it is this request's life and not the next one's
		r.life.end(cause)
	}
	d.mu.Unlock()
}

// settle ends r with what the engine, or the call that removed it, says. The caller holds the
// lock, and has deliver or take pass the result on.
func (r *request) settle(err error) {
	c, d := r.client, r.client.driver
	r.state, r.err = spare, r.life.verdict(err)
	if !r.due.IsZero() {
		r.timer.Stop()
		r.due = time.Time{}
	}
	r.binding.flying--
	r.binding.owner.flying--
	if c.flying--; c.flying == 0 {
		d.busy--
	}
	d.counts.Levels[r.level].end(Code(r.err))
	d.counts.Completed++
	if d.flying--; d.flying == 0 && d.closing {
		d.settled.Broadcast()
	}
}

// deliver passes the result of r to its waiter or to its port. The caller holds the lock,
// which deliver releases.
func (d *Driver) deliver(r *request) {
	if r.port == 0 {
		d.mu.Unlock()
		r.ready <- struct{}{}
		return
	}
	c := r.client
	done := Completion{Port: r.port, Sequence: r.sequence, Err: r.err}
	r.end(done.Reply[:])
	c.info.Wake(done)
	c.delivered()
}

// take takes the result of a request without a port. The caller holds the lock, which
// take releases.
func (r *request) take(out []byte) error {
	c, err := r.client, r.err
	r.end(out)
	c.delivered()
	return err
}

// end writes the answer of a request that ended to out and puts r back on its client's list. The
// caller holds the lock, which end releases.
func (r *request) end(out []byte) {
	status := StatusFinished
	if r.err != nil {
		status = StatusFailed
	}
	answer(out, r.sequence, Code(r.err), r.binding.owner.token, status)
	if r.life.over.Load() {
		r.life = &life{request: r}
	}
	r.binding, r.chain, r.err = nil, nil, nil
	r.client.requests.Give(r)
	r.client.driver.mu.Unlock()
}

// delivered counts a request whose completion was delivered. A caller that waits for the last
// one raises quiet before it reads pending, so one of the two sees the other.
func (c *Client) delivered() {
	if c.pending.Add(-1) == 0 && c.quiet.Load() > 0 {
		c.driver.wakeAll()
	}
}

// Found is where a request stood that was to be cancelled.
type Found int

// Places of a request.
const (
	NotFound   Found = iota // there is none of this number, or it has ended
	WasWaiting              // in the queue: its completion was delivered before Stop returned
	WasRunning              // in the engine, whose context has ended; it completes when the engine returns
)

// Stop ends an accepted request, and tells where it stood at that moment.
func (c *Client) Stop(sequence uint32) Found {
	return c.stop(func(r *request) bool { return r.chain == nil && r.sequence == sequence })
}

// stop ends the request in flight that matches.
func (c *Client) stop(match func(*request) bool) Found {
	d := c.driver
	d.mu.Lock()
	for _, r := range c.requests.All() {
		if r.state == spare || !match(r) {
			continue
		}
		found := WasWaiting
		if r.state == running {
			found = WasRunning
		}
		d.abort(r, context.Canceled) // releases the lock
		return found
	}
	d.mu.Unlock()
	return NotFound
}

// life is the context of one request after another, so that a request allocates nothing. Once ended it is replaced.
type life struct {
	request *request    // does not change
	over    atomic.Bool // cause is there

	// The Driver's lock guards the rest.
	done  chan struct{} // made by the first Done
	cause error
}

var _ context.Context = (*life)(nil)

// lock takes the Driver's lock, and returns what releases it.
func (l *life) lock() (unlock func()) {
	l.request.client.driver.mu.Lock()
	return l.request.client.driver.mu.Unlock
}

// Deadline implements context.Context.
func (l *life) Deadline() (time.Time, bool) {
	defer l.lock()()
	return l.request.due, !l.request.due.IsZero()
}

// Done implements context.Context.
func (l *life) Done() <-chan struct{} {
	defer l.lock()()
	if l.done == nil {
		l.done = make(chan struct{})
		if l.cause != nil {
			close(l.done)
		}
	}
	return l.done
}

// Err implements context.Context.
func (l *life) Err() error {
	if !l.over.Load() {
		return nil
	}
	defer l.lock()()
	return l.cause
}

// Value implements context.Context.
func (l *life) Value(any) any { return nil }

// end ends it; the first cause counts. The caller holds the lock.
func (l *life) end(cause error) {
	if l.cause == nil {
		l.cause = cause
		l.over.Store(true)
		if l.done != nil {
			close(l.done)
		}
	}
}

// verdict is the error, with a code, of a request that ended with err. The caller holds the lock.
func (l *life) verdict(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded), errors.Is(l.cause, context.DeadlineExceeded):
		return fault("call", ane.Because(driverabi.Timeout, err), "", "")
	case errors.Is(err, context.Canceled), l.cause != nil:
		return fault("call", ane.Because(driverabi.Aborted, err), "", "")
	}
	return coded(err)
}
