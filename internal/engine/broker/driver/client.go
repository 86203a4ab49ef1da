package driver

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/slots"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// ClientInfo is what a driver learns about a client when it attaches.
type ClientInfo struct {
	// Privileged is com.apple.ane.iokit-user-access. Without it Attach refuses.
	Privileged bool
	// AllowDataChaining is com.apple.ane.allow-dataChaining-access, which the
	// chaining selectors demand.
	AllowDataChaining bool
	// RealTime is com.apple.ane.realtime-priority-client, which requests of
	// quality of service 0 demand.
	RealTime bool
	// ClientHints is com.apple.private.ane.allow-set-client-hints, which the hint of a session demands.
	ClientHints bool
	// Restricted is the broker's tier of that name, which the argument "more
	// aggressive power saving" of an instance demands.
	Restricted bool
	// Identity stands for the team identifier and the code-directory hash. A
	// program that is resident is shared between clients of one Identity alone; clients
	// whose Identity is empty share nothing.
	Identity string
	// Wake is the asynchronous port. The driver calls it once for every request accepted with a port. The goroutine
	// that ran or removed the request calls it, holding no lock. Several calls may run at once, even before Control
	// returns. The engine waits meanwhile, so Wake must not block. It may cancel, and send requests with a port. A
	// request without one, or the end of the client or of a connection, would wait for Wake itself. nil refuses
	// requests with a port.
	Wake func(Completion)
}

// Completion is the end of one request.
type Completion struct {
	Port     uint64 // as the request gave it
	Sequence uint32
	Reply    [driverabi.SendReplySize]byte
	Err      error // of the engine, or the reason of an end without a result; nil with Success
}

// Client is one process's pair of connections. Its methods may be called from
// several goroutines; those that prepare or map wait for each other.
type Client struct {
	driver          *Driver
	info            ClientInfo
	control, direct connection
	ctx             context.Context // of loads and the like; ends when the client goes
	cancel          context.CancelFunc
	once            sync.Once
	gone            chan struct{} // closed when everything is undone

	// slow is held by everything but requests whose surfaces are bound already. A call that
	// needs it takes it before a program's gate and before the Driver's lock.
	slow sync.Mutex

	// quiet counts the closing connections, and the client when it closes. While it is
	// not 0 no request is accepted. It is raised with the lock.
	quiet   atomic.Int32
	pending atomic.Int32 // accepted requests whose completion is not delivered

	// The Driver's lock guards the rest. Tokens, mapped and the members of bound are written
	// with slow as well, and may be read with slow alone.
	flying   int    // accepted requests that have not ended
	next     uint32 // sequence number that is due
	first    uint32 // lower bound of those in flight
	requests slots.List[request]
	tokens   map[uint64]*attachment
	chains   map[uint64]*chain
	mapped   map[uint32]*resource
	bound    list.List // of *binding, the one that was used last in front
	size     int64     // of what is bound, in bytes
	hint     uint32
}

// connection is one of the two user clients, with a handshake of its own. It is the
// client value of the dispatchers.
type connection struct {
	client  *Client
	session atomic.Uint64 // 0: not open; written with the Driver's lock
}

// Attach admits a client. Without Privileged the error matches ane.ErrDenied and
// names the entitlement; after Close it matches ane.ErrClosed.
func (d *Driver) Attach(info ClientInfo) (*Client, error) {
	if !info.Privileged {
		return nil, fault("attach", ane.ErrDenied, driverabi.EntitlementOpen, "have the broker attach for you")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		return nil, fault("attach", ane.ErrClosed, "", "attach to another driver")
	}
	c := &Client{driver: d, info: info, gone: make(chan struct{}), tokens: map[uint64]*attachment{},
		chains: map[uint64]*chain{}, mapped: map[uint32]*resource{}}
	c.control.client, c.direct.client = c, c
	c.ctx, c.cancel = context.WithCancel(context.Background())
	d.clients[c] = struct{}{}
	return c, nil
}

// Control calls a selector of the control connection. nil is Success; Code gives the code
// of any other answer, whose error tells why and what to do.
func (c *Client) Control(selector int, a *driverabi.Args) error {
	return call(c.driver.control, &c.control, selector, a)
}

// Direct calls a selector of the direct-path connection, as Control does.
func (c *Client) Direct(selector int, a *driverabi.Args) error {
	return call(c.driver.direct, &c.direct, selector, a)
}

// Close cancels every request, waits for the completions, and undoes the rest: it unprepares and destroys programs, and
// unmaps surfaces. When ctx ends first the error matches ane.ErrDeadline, and the rest is done as soon as the engine
// comes back. Repeated calls wait for the same.
func (c *Client) Close(ctx context.Context) error {
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
		c.control.session.Store(0)
		c.direct.session.Store(0)
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
	for c.stop(func(r *request) bool { return !r.life.over.Load() }) != NotFound {
	}
	d := c.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	for c.pending.Load() > 0 {
		d.settled.Wait()
	}
}
