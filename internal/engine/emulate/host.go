package emulate

import (
	"sync"
	"sync/atomic"

	"github.com/anekit/anekit/ane/chip"
)

// Host is the only process on a machine with a chip: what it has loaded. Its methods are safe for concurrent use.
type Host struct {
	mu      sync.Mutex
	loaded  int
	spoiled atomic.Bool // a program of the process makes all evaluations fail
}

// NewHost returns a process that has loaded nothing.
func NewHost() *Host { return &Host{} }

// process returns the Host of each chip in this process, as all that a process on a Mac opens shares the machine's
// slots.
var process = sync.OnceValue(func() map[chip.Chip]*Host {
	hosts := map[chip.Chip]*Host{}
	for _, c := range chip.All() {
		hosts[c] = NewHost()
	}
	return hosts
})

// Process returns this process's Host of a chip. All devices that emulate the chip share it.
func Process(c chip.Chip) *Host { return process()[c] }

// load counts a loaded program, or returns false if there are limit already.
func (h *Host) load(limit int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.loaded >= limit {
		return false
	}
	h.loaded++
	return true
}

func (h *Host) unload() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.loaded--
}
