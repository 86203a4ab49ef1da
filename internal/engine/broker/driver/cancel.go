package driver

import "context"

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
	if !c.alive() {
		return NotFound
	}
	c.driver.mu.Lock()
	return c.stop(func(r *request) bool { return r.chain == nil && r.sequence == sequence }) // releases the lock
}

// stop ends the request in flight that matches. The caller holds the lock, which stop
// releases.
func (c *Client) stop(match func(*request) bool) Found {
	d := c.driver
	for _, r := range c.requests.All() {
		if r.state != waiting && r.state != running || !match(r) {
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

// Cancel is Stop, and reports whether there was such a request.
func (c *Client) Cancel(sequence uint32) bool { return c.Stop(sequence) != NotFound }
