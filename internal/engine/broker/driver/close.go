package driver

import (
	"context"

	"github.com/anekit/anekit/ane"
)

// Close cancels every request, waits for the completions, and undoes whatever the
// client has: programs unprepared and destroyed, surfaces unmapped. When ctx ends
// first the error matches ane.ErrDeadline, and the rest is done as soon as the
// engine comes back. Repeated calls wait for the same.
func (c *Client) Close(ctx context.Context) error {
	if !c.alive() {
		return nil
	}
	c.startClose()
	select {
	case <-c.gone:
		return nil
	default:
	}
	select {
	case <-c.gone:
		return nil
	case <-ctx.Done():
		return ane.Deadline("close", "driver", ctx.Err())
	}
}

// startClose begins the end of a client.
func (c *Client) startClose() {
	c.once.Do(func() {
		d := c.driver
		d.mu.Lock()
		c.closing.Store(true)
		c.quiet.Add(1)
		d.mu.Unlock()
		c.cancel()
		go func() {
			defer close(c.gone)
			c.quiesce()
			c.slow.Lock()
			defer c.slow.Unlock()
			c.dropPrograms()
			c.dropMappings()
			d.mu.Lock()
			defer d.mu.Unlock()
			delete(d.clients, c)
		}()
	})
}

// quiesce cancels all requests and waits until their completions are delivered. No new
// ones may be accepted during the wait: quiet is raised.
func (c *Client) quiesce() {
	d := c.driver
	for {
		d.mu.Lock()
		var one *request
		for _, r := range c.requests.All() {
			if r.state == waiting {
				one = r
				break
			}
			if r.state == running {
				r.life.end(context.Canceled)
			}
		}
		if one != nil {
			d.abort(one, context.Canceled)
			continue
		}
		for c.pending.Load() > 0 {
			d.settled.Wait()
		}
		d.mu.Unlock()
		return
	}
}
