package driver

import (
	"time"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// Level counts the requests of one level of the queue since the driver started.
// Sent is the sum of Completed, Failed, Cancelled, TimedOut and of those in flight.
type Level struct {
	Sent      uint64 // accepted
	Completed uint64 // ran to their end
	Failed    uint64 // the engine could not run them
	Cancelled uint64 // ended by Cancel, or with their connection or client
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

// waited counts the wait of r, which has left the queue. The caller holds the lock.
func (d *Driver) waited(r *request) {
	l := &d.levels[r.level]
	l.LongestWait = max(l.LongestWait, d.clock()-r.since)
}

// clock is the time since the driver started.
func (d *Driver) clock() time.Duration { return time.Since(d.born) }

// LevelOf is the level of the queue that a quality of service has: the documented queue
// index. Where the documented table knows none, the order of the classes is ours.
// Arguments of an instance and the hint of a session may lower a request's level.
func LevelOf(qos uint32) int {
	index, known := driverabi.QueueIndex(qos)
	if rank, class := driverabi.Rank(qos); class && !known {
		return driverabi.FirstNormalQueue + rank
	}
	return int(index)
}

// level is the level of a request of x with a session's hint.
func (x *attachment) level(qos, hint uint32) int {
	switch {
	case x.flags&MoreAggressive != 0, hint == HintBackground:
		return Levels - 1
	case x.flags&PowerSaving != 0:
		return min(LevelOf(qos)+1, Levels-1)
	}
	return LevelOf(qos)
}
