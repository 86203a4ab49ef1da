package emulate

import (
	"sync"

	"github.com/anekit/anekit/ane/chip"
)

// Host is a process on a machine with a chip: what it has compiled and loaded. Its methods are safe for concurrent
// use.
type Host struct {
	mu       sync.Mutex
	compiled map[key]bool // programs in the cache of the machine
	loaded   int
	poisoned bool
}

// key identifies text and weights.
type key [32]byte

// NewHost returns a process that has compiled nothing.
func NewHost() *Host { return &Host{compiled: map[key]bool{}} }

// process holds the Host of each chip in this process, as a process on a Mac has one budget for all that it opens.
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

// admits reports whether the process may compile a program: one from the cache, or one more of at most limit.
func (h *Host) admits(k key, limit int) (compiles int, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.compiled), h.compiled[k] || len(h.compiled) < limit
}

// keeps counts a compiled program.
func (h *Host) keeps(k key, poison bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.compiled[k] = true
	h.poisoned = h.poisoned || poison
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
