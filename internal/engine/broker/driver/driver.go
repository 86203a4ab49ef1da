package driver

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/dart"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// patience is how long Close waits for the engine to come back from a request that it
// cancelled.
const patience = 5 * time.Second

// totalDepth is how many requests all clients together may have in the queue: those of eight full clients. A client
// with none may add one more. It bounds what a completion can have to wait for.
const totalDepth = 8 * driverabi.QueueDepth

// Instancer is an Executable that can make another one of the same program with
// other weights, without compiling. weights holds the files that differ. The caller
// owns the new one, and keeps the base open during the call.
type Instancer interface {
	NewInstance(ctx context.Context, weights ane.Weights) (ane.Executable, error)
}

// Measured is an Executable that reports the bytes that it takes: until Close (besides text and weights), while loaded,
// and for each Invocation.
type Measured interface {
	Footprint() (held, loaded, bound int64)
}

// Driver is the one owner of an engine's time. Its methods may be called from
// several goroutines.
type Driver struct {
	control, direct *driverabi.Dispatcher
	served          chan struct{} // closed when the engine's goroutine has ended
	patience        time.Duration
	leastTurn       time.Duration
	depth, total    int   // of the queue, for one client and for all
	boundBytes      int64 // see New

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
	resources map[uint64]*resource
	iommu     *dart.Table
	counts    Stats // what Stats does not count itself
}

// New starts a driver. The caller closes the engine that compiled the programs after it.
// boundBytes bounds what the prepared Invocations of one client take together, as far as
// their programs tell (see Measured); 0 is no bound. The one that is bound last stays.
func New(boundBytes int64) *Driver {
	d := &Driver{
		boundBytes: boundBytes, served: make(chan struct{}), patience: patience, leastTurn: leastTurn,
		depth: driverabi.QueueDepth, total: totalDepth, born: time.Now(), iommu: newIOMMU(),
		clients: map[*Client]struct{}{}, resources: map[uint64]*resource{},
	}
	d.rung, d.settled = sync.NewCond(&d.mu), sync.NewCond(&d.mu)
	d.control = driverabi.NewDispatcher(driverabi.ControlMethods(), controlHandlers())
	d.direct = driverabi.NewDispatcher(driverabi.DirectMethods(), directHandlers())
	go d.serve()
	return d
}

// Close refuses new requests and waits for accepted ones until ctx ends; what is left
// then is cancelled. Every client is closed, and the Blocks are released. The error
// matches ane.ErrStuck when the engine does not come back from a cancelled request;
// repeating Close waits again.
func (d *Driver) Close(ctx context.Context) error {
	d.mu.Lock()
	d.closing = true
	stop := context.AfterFunc(ctx, d.wakeAll)
	for d.flying > 0 && ctx.Err() == nil {
		d.settled.Wait()
	}
	stop()
	left := slices.Collect(maps.Keys(d.clients))
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
	for _, r := range d.resources {
		r.release()
	}
	clear(d.resources)
	return nil
}

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
