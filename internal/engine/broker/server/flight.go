package server

import (
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/ane/driverabi"
	"github.com/anekit/anekit/internal/engine/broker/driver"
)

// flight is one evaluation that is out. A session uses a flight again and again; it
// holds what the driver's selector takes, so that evaluating needs no memory.
type flight struct {
	port    uint64 // 1 more than its place in session.flights
	frame   uint64 // to be answered
	client  uint64 // sequence number of the client
	number  uint32 // sequence number for the driver
	request *request
	program *program
	flying  bool // the session's lock guards it
	start   time.Time
	send    driverabi.SendRequest
	in      [driverabi.SendRequestSize]byte
	out     [driverabi.SendReplySize]byte
	bell    [1]uint64
	args    driverabi.Args
	state   atomic.Int32
	end     driver.Completion // written before state becomes woken
}

// States of a flight. The completion and the return from the driver's call come in
// either order; who is second answers. The change publishes what the first wrote.
const (
	flown int32 = iota
	woken       // the completion came first: the reader answers
	sent        // the call returned first: whoever delivers answers
)

// spare is a flight that is not in use, nil when all are. The caller holds the lock.
func (c *session) spare() *flight {
	if n := len(c.idling); n > 0 {
		fl := c.idling[n-1]
		c.idling = c.idling[:n-1]
		return fl
	}
	for i, fl := range c.flights {
		if fl == nil {
			fl = &flight{port: uint64(i) + 1}
			fl.args = driverabi.Args{AsyncPort: fl.port, ScalarIn: fl.bell[:], StructIn: fl.in[:], StructOut: fl.out[:]}
			c.flights[i] = fl
			return fl
		}
	}
	return nil
}

// flying finds the evaluation of a client's sequence number. The caller holds the
// lock.
func (c *session) flying(sequence uint64) *flight {
	for _, fl := range c.flights {
		if fl == nil {
			return nil
		}
		if fl.flying && fl.client == sequence {
			return fl
		}
	}
	return nil
}

// land gives a flight back, whatever became of it.
func (c *session) land(fl *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fl.request.busy = false
	fl.program.flying--
	fl.program.done++
	fl.flying, fl.request, fl.program = false, nil, nil
	fl.end.Err = nil
	c.idling = append(c.idling, fl)
}

// woken is what the driver calls with the end of an evaluation, which may be long after
// the session's own if the engine was stuck. It never blocks: done has room for every
// flight.
func (c *session) woken(end driver.Completion) {
	fl := c.flights[end.Port-1] // written before the driver knew the port
	fl.end = end
	if !fl.state.CompareAndSwap(flown, woken) {
		c.done <- fl
	}
}

// deliver answers evaluations that were queued.
func (c *session) deliver() {
	for fl := range c.done {
		if fl == nil {
			return
		}
		c.finish(fl)
	}
}
