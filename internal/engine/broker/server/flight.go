package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/slots"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// flight is one evaluation, or one chain, in flight. A session uses a flight again and
// again; it holds what the driver's selector takes, so that evaluating needs no memory.
type flight struct {
	port    uint64 // 1 more than its place among the flights
	frame   uint64 // to be answered
	client  uint64 // sequence number of the client
	number  uint32 // sequence number for the driver
	request *request
	program *program
	flying  bool   // the flights' lock guards it
	chain   *chain // nil for an evaluation; then request and program are nil
	start   time.Time
	in      [driverabi.SendRequestSize]byte
	out     [driverabi.SendReplySize]byte
	bell    [1]uint64
	args    driverabi.Args
	state   atomic.Int32
	end     driver.Completion // written before state becomes woken
}

// States of a flight. The completion and the return from the driver's call come in
// either order; the second one answers. The change publishes what the first wrote.
const (
	flown int32 = iota
	woken       // the completion came first: the reader answers
	sent        // the call returned first: deliver answers
)

// fly counts a request as in flight. The caller holds the flights' lock, as of land.
func (r *request) fly() {
	r.busy = true
	r.program.flying++
}

// land counts a request as ended.
func (r *request) land() {
	r.busy = false
	r.program.flying--
	r.program.done++
}

// flights are the evaluations and chains of one client that are in flight.
type flights struct {
	ctx      context.Context // ends with the connection
	counts   *counters
	out      *outlet
	requests *requests
	grant    *grant
	lanes    lanes
	chained  sync.WaitGroup // goroutines that run chains
	dev      *device
	done     chan *flight // those to be answered, then nil; has room for all of them

	answering atomic.Int32 // ends that deliver and chains are telling the client

	mu   sync.Mutex // guards what follows and parts of request and program; never held during a wait
	list slots.List[flight]
	next uint32 // sequence number of the next request to the driver
}

func newFlights(ctx context.Context, n *counters, out *outlet, r *requests, g *grant) flights {
	return flights{ctx: ctx, counts: n, out: out, requests: r, grant: g, lanes: lanes{open: map[uint64]*lane{}},
		done: make(chan *flight, driverabi.QueueDepth+1), list: slots.New[flight](driverabi.QueueDepth)}
}

// spare is a flight that is not in use, nil when all are. The caller holds the lock.
func (t *flights) spare() *flight {
	return t.list.Take(func(place int) *flight {
		fl := &flight{port: uint64(place) + 1}
		fl.args = driverabi.Args{AsyncPort: fl.port, ScalarIn: fl.bell[:], StructIn: fl.in[:], StructOut: fl.out[:]}
		return fl
	})
}

// find is the flight of a client's sequence number. The caller holds the lock.
func (t *flights) find(sequence uint64) *flight {
	for _, fl := range t.list.All() {
		if fl.flying && fl.client == sequence {
			return fl
		}
	}
	return nil
}

// busy reports whether a request is in flight.
func (t *flights) busy(r *request) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return r.busy
}

// of counts the evaluations of a program, in flight and ended.
func (t *flights) of(p *program) (flying int, done uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return p.flying, p.done
}

// land gives a flight back, whatever became of it.
func (t *flights) land(fl *flight) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fl.request.land()
	fl.flying, fl.request, fl.program = false, nil, nil
	fl.end.Err = nil
	t.list.Give(fl)
}

// woken is what the driver calls with the end of an evaluation, which may be long after
// the session's own if the engine was stuck. It never blocks: done has room for every
// flight.
func (t *flights) woken(end driver.Completion) {
	fl := t.list.At(int(end.Port) - 1) // written before the driver knew the port
	fl.end = end
	if !fl.state.CompareAndSwap(flown, woken) {
		t.done <- fl
	}
}

// deliver answers evaluations that were queued.
func (t *flights) deliver() {
	for fl := range t.done {
		if fl == nil {
			return
		}
		t.answering.Add(1) // before the flight lands
		t.finish(fl)
		t.answering.Add(-1)
	}
}
