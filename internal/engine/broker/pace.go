package broker

import "time"

// Starts of a broker are spaced out, so that one that cannot start or dies at once
// does not become an endless row of processes.
const (
	// firstDelay is how long no start is tried after one that failed; it doubles
	// with every further failure, to lastDelay.
	firstDelay = 50 * time.Millisecond
	lastDelay  = 5 * time.Second
	// burst is how many starts may follow each other without a pause. A broker that
	// keeps dying afterwards is started once every refill.
	burst  = 16
	refill = 250 * time.Millisecond
)

// pace decides when a broker may be started. Its owner locks it.
type pace struct {
	failures int       // in a row
	last     error     // of the last failure
	next     time.Time // no start before
	full     time.Time // when all of burst is free again
}

// refusal is the error of a call that comes too early after a failed start, nil
// when a start may be tried. A call that finds a later time to be free waits.
func (p *pace) refusal(now time.Time) error {
	if p.failures > 0 && now.Before(p.next) {
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
func (p *pace) ended(now time.Time, err error) {
	p.last = err
	if err == nil {
		p.failures = 0
		return
	}
	p.failures++
	delay := lastDelay
	if p.failures < 8 { // 50 ms << 7 is beyond lastDelay
		delay = min(firstDelay<<(p.failures-1), lastDelay)
	}
	p.next = now.Add(delay)
}
