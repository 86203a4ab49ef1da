package driver

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/anekit/anekit/internal/engine/broker/slots"
	"github.com/anekit/anekit/internal/engine/driverabi"
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

	closing atomic.Bool // raised with the lock
	// quiet counts the closing connections, and the client when it closes. While it is
	// not 0 no request is accepted. It is raised with the lock.
	quiet   atomic.Int32
	pending atomic.Int32 // accepted requests whose completion is not delivered

	// The Driver's lock guards the rest.
	flying   int    // accepted requests that have not ended
	next     uint32 // sequence number that is due
	first    uint32 // lower bound of those in flight
	requests slots.List[request]
	created  map[uint64]*attachment // by resource
	tokens   map[uint64]*attachment
	chains   map[uint64]*chain
	bound    bindings
	mapped   map[uint32]*mapping
	hint     uint32
}

// connection is one of the two user clients, with a handshake of its own. It is the
// client value of the dispatchers.
type connection struct {
	client  *Client
	session atomic.Uint64 // 0: not open; written with the Driver's lock
}

// Closing implements driverabi.Closing.
func (n *connection) Closing() bool { return n.client.closing.Load() }

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
	if c.why.Load() != nil {
		c.why.Store(nil)
	}
	ret := table.Call(n, selector, a)
	if ret != driverabi.Success && c.why.Load() == nil {
		detail, hint := dispatched(table, selector, a, ret)
		return c.refuse(ret, detail, hint, nil)
	}
	return ret
}
