package driver

import "context"

// Found is where a request stood that was to be cancelled.
type Found int

// Places of a request.
const (
	NotFound   Found = iota // there is none of this number, or it has ended
	WasWaiting              // in the queue: its completion was delivered before Stop returned
	WasRunning              // in the engine, which was told; it completes when that notices
)

// Stop ends an accepted request, and tells where it stood at that moment.
func (c *Client) Stop(sequence uint32) Found {
	if !c.alive() {
		return NotFound
	}
	d := c.driver
	d.mu.Lock()
	for _, r := range c.requests.All() {
		if r.sequence != sequence || r.state != waiting && r.state != running {
			continue
		}
		found := WasWaiting
		if r.state == running {
			found = WasRunning
		}
		d.abort(r, context.Canceled) // lets the lock go
		return found
	}
	d.mu.Unlock()
	return NotFound
}

// Cancel is Stop, and reports whether there was such a request.
func (c *Client) Cancel(sequence uint32) bool { return c.Stop(sequence) != NotFound }
