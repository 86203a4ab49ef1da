package unimem

import "github.com/anekit/anekit/unimem/internal/iosurface"

// Option changes how memory is opened.
type Option func(*config)

type config struct {
	warm    bool
	pin     bool
	perCell bool
	heap    bool
	poison  bool
	table   *iosurface.Table // a surface library other than the system's; nil in production
}

func configure(opts []Option) config {
	var c config
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return c
}

// Warm touches every page while opening, so that no later access pays for a first touch.
func Warm() Option { return func(c *config) { c.warm = true } }

// RequirePinned makes opening fail with ErrPin where the pages could be swapped out.
// Without it such a Block opens and says so by Pinned.
func RequirePinned() Option { return func(c *config) { c.pin = true } }

// SurfacePerCell gives each cell of a Grid a Block of its own, at offset 0, because an
// engine may read a bound surface only from its first byte. Only NewGrid takes it.
func SurfacePerCell() Option { return func(c *config) { c.perCell = true } }

// OnHeap takes the memory from the Go heap: aligned to PageSize, not pinned, without a handle.
// The race detector sees such memory. Systems without shared memory use it always.
func OnHeap() Option { return func(c *config) { c.heap = true } }

// PoisonOnClose keeps the address range of a closed Block reserved without access for the
// life of the process, so that a stale view faults rather than reading whatever is mapped
// there next. It is for tests: the address range (not the pages) is never given back. Only
// Linux has it; a Block on the heap or on a surface ignores it.
func PoisonOnClose() Option { return func(c *config) { c.poison = true } }
