package driver

import "time"

// enqueue puts r into the queue and rings a doorbell, whose index was checked. The caller
// holds the lock, which enqueue releases.
func (d *Driver) enqueue(r *request, index uint32) {
	r.state, r.since = waiting, d.clock()
	d.queue.push(r)
	d.bell |= 1 << index
	d.mu.Unlock()
	d.rung.Signal() // the engine's goroutine alone waits for it
}

// leaves counts the wait of r, which has left the queue, and forgets the doorbells when the
// queue is empty. The caller holds the lock.
func (d *Driver) leaves(r *request) {
	l := &d.counts.Levels[r.level]
	l.LongestWait = max(l.LongestWait, d.clock()-r.since)
	if d.queue.n == 0 {
		d.bell = 0
	}
}

// clock is the time since the driver started.
func (d *Driver) clock() time.Duration { return time.Since(d.born) }

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
		d.leaves(r)
		d.run(r)
		d.deliver(r)
		d.mu.Lock()
	}
}

// run has the engine evaluate r and settles it. The caller holds the lock, which run
// releases meanwhile.
func (d *Driver) run(r *request) {
	r.outer, d.running, r.state, r.resumed = d.running, r, running, 0
	invocation, life := r.binding.invocation, r.life
	d.mu.Unlock()
	err := invocation.Evaluate(life)
	d.mu.Lock()
	d.running, r.outer = r.outer, nil
	r.settle(err)
}

// leastTurn is how long a run continues after it has yielded, so that endless short requests of a higher class leave it
// time.
const leastTurn = 250 * time.Microsecond

// Yield runs the requests that wait in higher levels, on the same goroutine. An engine calls it between two steps, or
// two parts of a step, of the run whose context is l. What ran since the last call counts as a turn of its level, so
// the run goes on after as many others as their weights give them. Requests of programs that have a run on this stack
// wait for its end.
func (l *life) Yield() {
	r := l.request
	d := r.client.driver
	if d.queue.waits.Load()&(1<<r.level-1) == 0 || r.resumed > 0 && d.clock()-r.resumed < d.leastTurn {
		return
	}
	defer func() { r.resumed = d.clock() }()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue.charge(r.level)
	for {
		next := d.queue.before(r, d.fits)
		if next == nil {
			return
		}
		d.leaves(next)
		d.counts.Yields++
		d.run(next)
		d.deliver(next)
		d.mu.Lock()
	}
}

// fits reports whether no run that was begun is of the program of r: an engine may run a program once at a time.
func (d *Driver) fits(r *request) bool {
	for x := d.running; x != nil; x = x.outer {
		if x.binding.owner.program == r.binding.owner.program {
			return false
		}
	}
	return true
}
