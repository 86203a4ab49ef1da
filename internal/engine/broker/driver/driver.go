package driver

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/dart"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// patience is how long Close waits for the engine to come back from a request that it
// cancelled.
const patience = 5 * time.Second

// Driver is the one owner of an engine's time. Its methods may be called from
// several goroutines. The zero value and nil are closed.
type Driver struct {
	opts            Options
	control, direct *driverabi.Dispatcher
	served          chan struct{} // closed when the engine's goroutine has ended
	patience        time.Duration
	leastTurn       time.Duration

	mu      sync.Mutex // the gate: guards what follows, and the tables of the clients
	rung    *sync.Cond // a doorbell was rung, or the engine became free: for its goroutine
	settled *sync.Cond // a client, or all of them, has no requests: for callers that close
	closing bool
	stopped bool
	born    time.Time

	queue   queue
	bell    uint32   // doorbells rung since the queue was last empty
	running *request // nil while the engine is free; with those that have yielded to it, see outer
	flying  int      // accepted requests that have not ended
	busy    int      // clients that have some

	clients   map[*Client]struct{}
	programs  map[uint64]*program
	weights   map[uint64]*weights
	surfaces  map[uint32]*surface
	iommu     *dart.Table
	resident  int
	mapped    int
	bound     int
	instances int // open ones
	created   uint64
	completed uint64
	yields    uint64
	levels    [Levels]Level // but Waiting and MostWaiting, which queue has
}

// New starts a driver. The error matches ane.ErrUnavailable without an Engine, and
// ane.ErrLength for depths outside their bounds.
func New(o Options) (*Driver, error) {
	if o.Engine == nil {
		return nil, fault("open", ane.ErrUnavailable, "no engine", "give Options.Engine")
	}
	if o.QueueDepth < 0 || o.QueueDepth > driverabi.QueueDepth || o.TotalDepth < 0 {
		return nil, fault("open", ane.ErrLength, fmt.Sprintf("queue depth %d, total %d", o.QueueDepth, o.TotalDepth),
			fmt.Sprintf("take 1 to %d for a client and at least 1 for all, or 0 for the defaults",
				driverabi.QueueDepth))
	}
	if o.QueueDepth == 0 {
		o.QueueDepth = driverabi.QueueDepth
	}
	if o.TotalDepth == 0 {
		o.TotalDepth = TotalDepth
	}
	d := &Driver{
		opts: o, served: make(chan struct{}), patience: patience, leastTurn: leastTurn,
		born: time.Now(), iommu: newIOMMU(),
		clients:  map[*Client]struct{}{},
		programs: map[uint64]*program{}, weights: map[uint64]*weights{}, surfaces: map[uint32]*surface{},
	}
	d.rung, d.settled = sync.NewCond(&d.mu), sync.NewCond(&d.mu)
	d.control = driverabi.NewDispatcher(driverabi.ControlMethods(), controlHandlers())
	d.direct = driverabi.NewDispatcher(driverabi.DirectMethods(), directHandlers())
	go d.serve()
	return d, nil
}

// Attach admits a client. Without Privileged the error matches ane.ErrDenied and
// names the entitlement; after Close it matches ane.ErrClosed.
func (d *Driver) Attach(info ClientInfo) (*Client, error) {
	if !info.Privileged {
		return nil, fault("attach", ane.ErrDenied, driverabi.EntitlementOpen, "have the broker attach for you")
	}
	if !d.made() {
		return nil, fault("attach", ane.ErrClosed, "", "take a driver from New")
	}
	c := &Client{driver: d, info: info, gone: make(chan struct{}),
		created: map[uint64]*attachment{}, tokens: map[uint64]*attachment{},
		chains: map[uint64]*chain{}, mapped: map[uint32]*mapping{}}
	c.control.client, c.direct.client = c, c
	c.ctx, c.cancel = context.WithCancel(context.Background())
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		c.cancel()
		return nil, fault("attach", ane.ErrClosed, "", "attach to another driver")
	}
	d.clients[c] = struct{}{}
	return c, nil
}

// Close refuses new requests and waits for accepted ones until ctx ends; what is left
// then is cancelled. Every client is closed, and the Blocks are released. The error
// matches ane.ErrStuck when the engine does not come back from a cancelled request;
// repeating Close waits again.
func (d *Driver) Close(ctx context.Context) error {
	if !d.made() {
		return nil
	}
	d.mu.Lock()
	d.closing = true
	stop := context.AfterFunc(ctx, d.wakeAll)
	for d.flying > 0 && ctx.Err() == nil {
		d.settled.Wait()
	}
	stop()
	left := make([]*Client, 0, len(d.clients))
	for c := range d.clients {
		left = append(left, c)
	}
	d.mu.Unlock()

	last, cancel := context.WithTimeout(context.Background(), d.patience)
	defer cancel()
	for _, c := range left { // all start at once, whatever the first waits for
		c.startClose()
	}
	for _, c := range left {
		if err := c.Close(last); err != nil {
			return fault("close", ane.ErrStuck, "the engine runs a cancelled request",
				"call Close again when it has come back")
		}
	}
	d.mu.Lock()
	d.stopped = true
	d.rung.Signal()
	d.mu.Unlock()
	<-d.served
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.surfaces {
		s.block.Release()
	}
	clear(d.surfaces)
	return nil
}

// made reports whether d came from New.
func (d *Driver) made() bool { return d != nil && d.rung != nil }

// wakeAll has every caller that closes check again.
func (d *Driver) wakeAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settled.Broadcast()
}

// fault is the one way this package makes an error.
func fault(op string, err error, detail, hint string) error {
	return &ane.Error{Op: op, Engine: "driver", Err: err, Detail: detail, Hint: hint}
}
