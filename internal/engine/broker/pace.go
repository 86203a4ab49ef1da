package broker

import "time"

// Starts of a broker are spaced out, so that one that cannot start or dies at once
// does not become an endless row of processes.
const (
	// burst is how many starts may follow each other without a pause. A broker that
	// keeps dying afterwards is started once every refill, as is one after a start that failed.
	burst  = 16
	refill = 250 * time.Millisecond
)

// pace decides when a broker may be started. Its owner locks it.
type pace struct {
	last error     // of the last start
	next time.Time // no start before, if the last has failed
	full time.Time // when all of burst is free again
}

// refusal is the error of a call that comes too early after a failed start, nil
// when a start may be tried. A call that finds a later time to be free waits.
func (p *pace) refusal(now time.Time) error {
	if now.Before(p.next) {
		return p.last
	}
	return nil
}

// take books a start and tells how long to wait before it.
func (p *pace) take(now time.Time) time.Duration {
	if p.full.Before(now) {
		p.full = now
	}
	p.full = p.full.Add(refill)
	return max(p.full.Sub(now)-burst*refill, 0)
}

// ended notes how a start went.
func (p *pace) ended(now time.Time, err error) { p.last, p.next = err, now.Add(refill) }
