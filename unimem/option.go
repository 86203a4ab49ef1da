package unimem

import (
	"log/slog"

	"github.com/anekit/anekit/unimem/internal/settings"
)

// Option changes how memory is opened.
type Option func(*config)

// config is what the options of one call set. Its type is internal and shared, so that package
// surfaces can make an Option for a library of its own.
type config = settings.Settings

func configure(opts []Option) config {
	var c config
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return c
}

// refuse reports options that have no meaning for a Block, Tape or Layout.
func refuse(c config, op string, size int) error {
	if c.PerCell {
		return &Error{Op: op, Size: size, Err: ErrOption, Hint: "SurfacePerCell is for NewGrid only"}
	}
	return refuseLibrary(c, op, size)
}

// refuseLibrary reports a library of surfaces that is nil or one of two. Memory of another
// kind would pass for surfaces.
func refuseLibrary(c config, op string, size int) error {
	switch {
	case c.Clash:
		return &Error{Op: op, Size: size, Err: ErrOption, Hint: "name one library of surfaces"}
	case c.Foreign && c.Table == nil:
		return &Error{Op: op, Size: size, Err: ErrOption, Hint: "the library of surfaces is nil: load one first"}
	}
	return nil
}

// Warm touches every page while opening, so that no later access pays for a first touch.
func Warm() Option { return func(c *config) { c.Warm = true } }

// RequirePinned makes opening fail with ErrPin where the pages could be swapped out.
// Without it such a Block opens and says so by Pinned.
func RequirePinned() Option { return func(c *config) { c.Pin = true } }

// SurfacePerCell gives each cell of a Grid a Block of its own, at offset 0, because an
// engine may read a bound surface only from its first byte. Only NewGrid takes it.
func SurfacePerCell() Option { return func(c *config) { c.PerCell = true } }

// OnHeap takes the memory from the Go heap: aligned to PageSize, not pinned, without a handle.
// The race detector sees such memory. Systems without shared memory use it always.
func OnHeap() Option { return func(c *config) { c.Heap = true } }

// PoisonOnClose keeps the address range of a closed Block reserved without access for the
// life of the process, so that a stale view faults rather than reading whatever is mapped
// there next. It is for tests: the address range (not the pages) is never given back. Only
// Linux has it; a Block on the heap or on a surface ignores it.
func PoisonOnClose() Option { return func(c *config) { c.Poison = true } }

// Logger is told of Blocks that become unreachable before Close. Without it, or with nil,
// slog.Default at that time is told.
func Logger(l *slog.Logger) Option { return func(c *config) { c.Log = l } }
