package driver

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane/driverabi"
)

// enqueue puts r into the queue and rings a doorbell, whose index was checked. The caller
// holds the lock, which enqueue releases.
func (d *Driver) enqueue(r *request, index uint32) {
	r.state, r.since = waiting, d.clock()
	d.queue.push(r)
	d.bell |= 1 << index
	d.mu.Unlock()
	d.rung.Signal() // the engine's goroutine alone waits for it
}

// clearBell forgets the doorbells when the queue is empty. The caller holds the lock.
func (d *Driver) clearBell() {
	if d.queue.n == 0 {
		d.bell = 0
	}
}

// serve gives the engine's turns to the queue until the driver stops.
func (d *Driver) serve() {
	defer close(d.served)
	d.mu.Lock()
	defer d.mu.Unlock()
	for !d.stopped {
		if d.running != nil || d.queue.n == 0 {
			d.rung.Wait()
			continue
		}
		r := d.queue.pop()
		d.waited(r)
		d.clearBell()
		d.run(r)
		d.deliver(r)
		d.mu.Lock()
	}
}

// run has the engine evaluate r and settles it. The caller holds the lock, which run
// releases meanwhile.
func (d *Driver) run(r *request) {
	d.running, r.state = r, running
	invocation, life := r.binding.invocation, r.life
	d.mu.Unlock()
	err := invocation.Evaluate(life)
	d.mu.Lock()
	d.running = nil
	r.settle(err)
}

// verdict is the code of a request that ended with err.
func verdict(err error, l *life) driverabi.Return {
	switch {
	case err == nil:
		return driverabi.Success
	case errors.Is(err, context.DeadlineExceeded), errors.Is(l.Err(), context.DeadlineExceeded):
		return driverabi.Timeout
	case errors.Is(err, context.Canceled), l.Err() != nil:
		return driverabi.Aborted
	}
	return resultOf(err)
}
