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
func (g *Guest) SetTime(d time.Duration) { g.limits.Time = d }
