package driver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/driverabi"
)

// Client is one process's pair of connections. Its methods may be called from
// several goroutines; those that prepare or map wait for each other. The zero value and
// nil are closed.
type Client struct {
	driver          *Driver
	info            ClientInfo
	control, direct connection
	ctx             context.Context // of loads and the like; ends when the client goes
	cancel          context.CancelFunc
	once            sync.Once
	gone            chan struct{} // closed when everything is undone
	why             atomic.Pointer[error]

	// slow is held by everything but requests whose surfaces are bound already. Who
	// needs it takes it before a program's gate and before the Driver's lock.
	slow sync.Mutex

	// The Driver's lock guards the rest.
	closing  bool
	barred   int        // closing connections, which let no request in
	pending  int        // accepted requests whose completion is not delivered
	flying   int        // accepted requests that have not ended
	next     uint32     // sequence number that is due
	requests []*request // all slots
	spare    []*request
	created  map[uint64]*attachment // by resource
	tokens   map[uint64]*attachment
	chains   map[uint64]*chain
	mapped   map[uint32]*mapping
	hint     uint32
}

// connection is one of the two user clients, with a handshake of its own. It is the
// client value of the dispatchers.
type connection struct {
	client  *Client
	session uint64 // 0: not open; the Driver's lock guards it
}

// Closing implements driverabi.Closing.
func (n *connection) Closing() bool {
	d := n.client.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	return n.client.closing
}

// Control calls a selector of the control connection.
func (c *Client) Control(selector int, a *driverabi.Args) driverabi.Return {
	if !c.alive() {
		return driverabi.NotOpen
	}
	return c.call(c.driver.control, &c.control, selector, a)
}

// Direct calls a selector of the direct-path connection.
func (c *Client) Direct(selector int, a *driverabi.Args) driverabi.Return {
	if !c.alive() {
		return driverabi.NotOpen
	}
	return c.call(c.driver.direct, &c.direct, selector, a)
}

// alive reports whether c came from Attach.
func (c *Client) alive() bool { return c != nil && c.driver != nil }

func (c *Client) call(table *driverabi.Dispatcher, n *connection, selector int, a *driverabi.Args) driverabi.Return {
	c.why.Store(nil)
	ret := table.Call(n, selector, a)
	if ret != driverabi.Success && c.why.Load() == nil {
		return c.refuse(ret, "refused by the dispatcher: selector, counts or sizes, or a path without a handler", nil)
	}
	return ret
}

// refuse notes why the answer is ret.
func (c *Client) refuse(ret driverabi.Return, detail string, cause error) driverabi.Return {
	err := fault("call", ane.Because(ret, cause), detail, "")
	c.why.Store(&err)
	return ret
}

// Explain tells why the most recent call that did not succeed was refused, for logs
// and messages; it matches the code and what the engine said. nil after a call that
// succeeded. Callers on several goroutines get the answer of whoever was last.
func (c *Client) Explain() error {
	if c != nil {
		if err := c.why.Load(); err != nil {
			return *err
		}
	}
	return nil
}

// Cancel ends an accepted request: a queued one completes at once, a running one as
// soon as the engine notices. It reports whether there was such a request.
func (c *Client) Cancel(sequence uint32) bool {
	if !c.alive() {
		return false
	}
	d := c.driver
	d.mu.Lock()
	for _, r := range c.requests {
		if r.sequence == sequence && (r.state == waiting || r.state == running) {
			d.abort(r, context.Canceled)
			return true
		}
	}
	d.mu.Unlock()
	return false
}

// resultOf is the code for what went wrong outside of a run: the one in err, if there is
// one, or else the one that says what the engine said.
func resultOf(err error) driverabi.Return {
	var ret driverabi.Return
	switch {
	case errors.As(err, &ret):
		return ret
	case errors.Is(err, ane.ErrDeadline), errors.Is(err, context.Canceled):
		return driverabi.Aborted
	case errors.Is(err, ane.ErrShort), errors.Is(err, ane.ErrStale), errors.Is(err, ane.ErrAligned),
		errors.Is(err, ane.ErrCompile), errors.Is(err, ane.ErrMismatch):
		return driverabi.BadArgument
	case errors.Is(err, ane.ErrExhausted):
		return driverabi.NoResources
	case errors.Is(err, ane.ErrStuck):
		return driverabi.Busy
	}
	return driverabi.DeviceError
}

func counted(n int, what string) string { return fmt.Sprintf("%d %s", n, what) }
