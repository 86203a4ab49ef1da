package driver

import (
	"time"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// Stats counts what a Driver holds.
type Stats struct {
	Clients   int
	Resources int    // programs, weights and surfaces that were added
	Instances int    // open ones
	Resident  int    // programs and instances loaded
	Mapped    int    // surfaces with a device range
	Bound     int    // prepared Invocations
	Queued    int    // requests in the queue
	Running   int    // 0 or 1
	Created   uint64 // instances ever made
	Completed uint64 // requests ever ended, whatever their result
	Yields    uint64 // requests that ran between two steps of another one
	// Levels are the levels of the queue, by queue index: 0 and 1 are never used, and
	// driverabi.Class gives the one of a quality of service.
	Levels [Levels]Level
}

// Level counts the requests of one level of the queue since the driver started.
// Sent is the sum of Completed, Failed, Cancelled, TimedOut and of those in flight.
type Level struct {
	Sent      uint64 // accepted
	Completed uint64 // ran to their end
	Failed    uint64 // the engine could not run them
	Cancelled uint64 // ended by Stop, or with their connection or client
	TimedOut  uint64 // ended by their time limit
	Refused   uint64 // not accepted, as the queue had no room: back-pressure
	// Waiting are those in the queue now, MostWaiting the most there ever were at once.
	Waiting, MostWaiting int
	// LongestWait is the longest time that one stood in the queue before it ran or was
	// taken out. A request that ran at once did not wait.
	LongestWait time.Duration
}

// end counts the end of a request.
func (l *Level) end(ret driverabi.Return) {
	switch ret {
	case driverabi.Success:
		l.Completed++
	case driverabi.Aborted:
		l.Cancelled++
	case driverabi.Timeout:
		l.TimedOut++
	default:
		l.Failed++
	}
}

// Stats tells what the driver holds.
func (d *Driver) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.counts
	s.Clients, s.Resources, s.Queued = len(d.clients), len(d.resources), d.queue.n
	if d.running != nil {
		s.Running = 1
	}
	for i := range s.Levels {
		s.Levels[i].Waiting, s.Levels[i].MostWaiting = len(d.queue.lists[i]), d.queue.most[i]
	}
	return s
}
