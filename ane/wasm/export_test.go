package wasm

import "time"

// Users is the number of guests that have a program open, or wait for one.
func Users(h *Host) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.models {
		n += m.users
	}
	return n
}

// SetTime changes Limits.Time of a guest that computes nothing at the moment.
func (g *Guest) SetTime(d time.Duration) {
	g.calls.watch.Stop()
	g.calls.watching.Store(false)
	g.limits.Time = d
}

// Entered reports whether calls of the guest take no goroutine.
func (g *Guest) Entered() bool { return g.calls.entrance != nil }

// LookLater has the watch look as it would after Limits.Time. A function of a running call calls it.
func (g *Guest) LookLater() {
	g.calls.since = g.calls.since.Add(-g.limits.Time)
	g.calls.look()
}
