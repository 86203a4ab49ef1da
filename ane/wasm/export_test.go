package wasm

// Users is the number of guests that have a program open, or wait for one.
func Users(h *Host) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.models {
		n += m.users
	}
	return n
}
