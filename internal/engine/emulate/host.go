package emulate

import (
	"sync"

	"github.com/anekit/anekit/ane/chip"
)

// Host is the only process on a machine with a chip: what it has loaded. Its methods are safe for concurrent use.
type Host struct {
	mu       sync.Mutex
	loaded   int
	poisoned bool
}

// NewHost returns a process that has loaded nothing.
func NewHost() *Host { return &Host{} }

// process holds the Host of each chip in this process, as all that a process on a Mac opens shares the machine's slots.
// It is made when first needed and never replaced.
var process struct {
	once  sync.Once
	hosts map[chip.Chip]*Host
}

// Process returns this process's Host of a chip. All devices that emulate the chip share it.
func Process(c chip.Chip) *Host {
	process.once.Do(func() {
		process.hosts = map[chip.Chip]*Host{}
		for _, c := range chip.All() {
			process.hosts[c] = NewHost()
		}
	})
	return process.hosts[c]
}

// poison records that the process has a program that spoils it.
func (h *Host) poison() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.poisoned = true
}

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

// spoiled reports whether evaluations fail.
func (h *Host) spoiled() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.poisoned
}
