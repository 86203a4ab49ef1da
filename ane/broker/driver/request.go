package driver

import (
	"context"
	"time"

	"github.com/anekit/anekit/ane/driverabi"
)

// States of a request. The Driver's lock guards them.
const (
	spare   = iota // on its client's list
	waiting        // in the queue
	running
	ended // its waiter has not taken the result yet
)

// request is one slot of a client, used again and again. The Driver's lock guards all
// but life.
type request struct {
	client     *Client
	state      int
	level      int
	prev, next *request // in the queue

	binding  *binding
	sequence uint32
	token    uint64
	port     uint64 // 0: a caller waits for ready

	life   *life
	due    time.Time // zero: never
	timer  *time.Timer
	ready  chan struct{} // for one result
	result driverabi.Return
	err    error
}

// slot takes a spare request of c, or makes one; the caller has checked the depth.
func (c *Client) slot() *request {
	if n := len(c.spare); n > 0 {
		r := c.spare[n-1]
		c.spare = c.spare[:n-1]
		return r
	}
	r := &request{client: c, life: &life{}, ready: make(chan struct{}, 1)}
	c.requests = append(c.requests, r)
	return r
}

// arm gives r its time limit.
func (r *request) arm(timeout time.Duration) {
	r.due = time.Time{}
	if timeout > 0 {
		r.due = time.Now().Add(timeout)
		if r.timer == nil {
			r.timer = time.AfterFunc(timeout, r.expire)
		} else {
			r.timer.Reset(timeout)
		}
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
// its context. The caller holds the lock, which is let go.
func (d *Driver) abort(r *request, cause error) {
	switch r.state {
	case waiting:
		d.queue.remove(r)
		d.settle(r, cause)
		return
	case running: // with the lock, so that it is this request's life and not the next one's
		r.life.end(cause)
	}
	d.mu.Unlock()
}

// settle ends r with what the engine, or whoever removed it, says, and delivers the
// completion. The caller holds the lock, which is let go.
func (d *Driver) settle(r *request, err error) {
	c := r.client
	r.result, r.err = verdict(err, r.life), err
	if r.timer != nil && !r.due.IsZero() {
		r.timer.Stop()
	}
	r.due = time.Time{}
	r.binding.flying--
	r.binding.owner.flying--
	if c.flying--; c.flying == 0 {
		d.busy--
	}
	d.flying--
	d.completed++
	if r.port == 0 {
		r.state = ended
		d.mu.Unlock()
		r.ready <- struct{}{}
		return
	}
	done := Completion{Port: r.port, Sequence: r.sequence, Return: r.result, Err: r.err}
	r.reply(done.Reply[:])
	r.recycle()
	d.mu.Unlock()
	c.info.Wake(done)
	d.mu.Lock()
	c.leave()
	d.mu.Unlock()
}

// collect takes the result of a request without a port, once it is ready.
func (r *request) collect(out []byte) (driverabi.Return, error) {
	d := r.client.driver
	<-r.ready
	d.mu.Lock()
	defer d.mu.Unlock()
	ret, err := r.result, r.err
	r.reply(out)
	r.recycle()
	r.client.leave()
	return ret, err
}

// recycle puts r back on its client's list.
func (r *request) recycle() {
	if r.life.Err() != nil {
		r.life = &life{}
	}
	r.state, r.binding, r.err = spare, nil, nil
	r.client.spare = append(r.client.spare, r)
}

// reply writes the answer of a request that ended to out, if that has room for it.
func (r *request) reply(out []byte) {
	s := driverabi.SendReply{Sequence: r.sequence, Result: uint32(r.result), Token: r.token, Status: StatusFinished}
	if r.result != driverabi.Success {
		s.Status = StatusFailed
	}
	_ = s.Encode(out) // of chains there is no answer, and out is empty
}
