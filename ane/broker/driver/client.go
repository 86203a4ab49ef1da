package driver

import (
	"context"

	"github.com/anekit/anekit/ane/driverabi"
)

// Client is one process's pair of connections. Its methods may be called from
// several goroutines.
type Client struct {
	driver *Driver
	info   ClientInfo
}

// Control calls a selector of the control connection.
func (c *Client) Control(selector int, a *driverabi.Args) driverabi.Return {
	return driverabi.Unsupported
}

// Direct calls a selector of the direct-path connection.
func (c *Client) Direct(selector int, a *driverabi.Args) driverabi.Return {
	return driverabi.Unsupported
}

// Cancel ends an accepted request: a queued one completes at once, a running one as
// soon as the engine notices. It reports whether there was such a request.
func (c *Client) Cancel(sequence uint64) bool { return false }

// Explain tells why the most recent call that did not succeed was refused, for logs
// and messages; the ABI itself carries nothing but the code.
func (c *Client) Explain() error { return nil }

// Close cancels every request, waits for the completions, and undoes whatever the
// client has: programs unprepared and destroyed, surfaces unmapped. When ctx ends
// first the error matches ane.ErrDeadline, and the rest is done as soon as the
// engine comes back. Repeated calls wait for the same.
func (c *Client) Close(ctx context.Context) error { return nil }
