package driver

import (
	"context"
	"time"
)

// arm gives r its time limit, 0 for none.
func (r *request) arm(timeout time.Duration) {
	if timeout <= 0 {
		if r.limited {
			r.limited = false
			r.life.begin(time.Time{})
		}
		return
	}
	r.due, r.limited = time.Now().Add(timeout), true
	if r.timer == nil {
		r.timer = time.AfterFunc(timeout, r.expire)
	} else {
		r.timer.Reset(timeout)
	}
	r.life.begin(r.due)
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
// its context. The caller holds the lock, which
// abort releases.
func (d *Driver) abort(r *request, cause error) {
	switch r.state {
	case waiting:
		d.queue.remove(r)
		d.clearBell()
		d.waited(r)
		r.settle(cause)
		d.deliver(r)
		return
	case running: // with the lock, so that it is this request's life and not the next one's
		r.life.end(cause)
	}
	d.mu.Unlock()
}
