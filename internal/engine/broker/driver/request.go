package driver

import (
	"time"

	"github.com/anekit/anekit/internal/engine/driverabi"
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
	prev, next *request      // in the queue
	outer      *request      // that has yielded to this one
	resumed    time.Duration // when it went on after it yielded, by Driver.clock; for the engine's goroutine
	since      time.Duration // when it came there, by Driver.clock

	binding  *binding
	sequence uint32
	token    uint64
	port     uint64 // 0: a caller waits for ready
	chain    *chain // whose inputs became ready, nil for other requests

	life    *life
	limited bool      // life has a deadline
	due     time.Time // zero: never
	timer   *time.Timer
	ready   chan struct{} // for one result
	result  driverabi.Return
	err     error
}

// slot takes a request of c that is in no use; the caller has checked the depth.
func (c *Client) slot() *request {
	return c.requests.Take(func(int) *request {
		r := &request{client: c, ready: make(chan struct{}, 1)}
		r.life = &life{request: r}
		return r
	})
}

// settle ends r with what the engine, or the call that removed it, says. The caller holds the
// lock, and has deliver or take pass the result on.
func (r *request) settle(err error) {
	c, d := r.client, r.client.driver
	r.result, r.err = verdict(err, r.life), err
	if !r.due.IsZero() {
		r.timer.Stop()
		r.due = time.Time{}
	}
	r.binding.flying--
	r.binding.owner.flying--
	if c.flying--; c.flying == 0 {
		d.busy--
	}
	d.levels[r.level].end(r.result)
	d.completed++
	if d.flying--; d.flying == 0 && d.closing {
		d.settled.Broadcast()
	}
}

// deliver passes the result of r to its waiter or to its port. The caller holds the lock,
// which deliver releases.
func (d *Driver) deliver(r *request) {
	if r.port == 0 {
		r.state = ended
		d.mu.Unlock()
		r.ready <- struct{}{}
		return
	}
	c := r.client
	done := Completion{Port: r.port, Sequence: r.sequence, Return: r.result, Err: r.err}
	r.reply(done.Reply[:])
	r.recycle()
	d.mu.Unlock()
	c.info.Wake(done)
	c.delivered()
}

// collect waits for a request without a port that was queued, and takes its result.
func (r *request) collect(out []byte) driverabi.Return {
	<-r.ready
	r.client.driver.mu.Lock()
	return r.take(out)
}

// take takes the result of a request without a port. The caller holds the lock, which
// take releases.
func (r *request) take(out []byte) driverabi.Return {
	c, ret, err := r.client, r.result, r.err
	if r.chain != nil {
		r.chain.failure = err
	}
	r.reply(out)
	r.recycle()
	c.driver.mu.Unlock()
	c.delivered()
	if ret != driverabi.Success {
		return c.refuse(ret, "the request did not run to its end", "", err)
	}
	return ret
}

// recycle puts r back on its client's list.
func (r *request) recycle() {
	if r.life.over.Load() {
		r.life, r.limited = &life{request: r}, false
	}
	r.state, r.binding, r.chain, r.err = spare, nil, nil, nil
	r.client.requests.Give(r)
}

// reply writes the answer of a request that ended to out.
func (r *request) reply(out []byte) {
	status := StatusFinished
	if r.result != driverabi.Success {
		status = StatusFailed
	}
	answer(out, r.sequence, r.result, r.token, status)
}

// delivered counts a request whose completion was delivered. A caller that waits for the last
// one raises quiet before it reads pending, so one of the two sees the other.
func (c *Client) delivered() {
	if c.pending.Add(-1) == 0 && c.quiet.Load() > 0 {
		c.driver.wakeAll()
	}
}
