package unimem

import (
	"log/slog"

	"github.com/anekit/anekit/unimem/internal/iosurface"
)

// Option changes how memory is opened.
type Option func(*config)

type config struct {
	warm    bool
	pin     bool
	perCell bool
	heap    bool
	poison  bool
	foreign bool // the surfaces of table, not the system's
	adopted bool // the surface was made by somebody else
	table   *iosurface.Table
	log     *slog.Logger // nil: the default at the time
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

// refuse answers options that have no meaning for a Block, Tape or Layout.
func (c config) refuse(op string, size int) error {
	if c.perCell {
		return &Error{Op: op, Size: size, Err: ErrOption, Hint: "SurfacePerCell is for NewGrid only"}
	}
	return c.refuseTable(op, size)
}

// refuseTable answers OnSurfaces of nothing: memory of another kind would pass for surfaces.
func (c config) refuseTable(op string, size int) error {
	if c.foreign && c.table == nil {
		return &Error{Op: op, Size: size, Err: ErrOption, Hint: "the library of surfaces is nil: load one first"}
	}
	return nil
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

// Logger is told of Blocks that become unreachable before Close. Without it, or with nil,
// slog.Default at that time is told.
func Logger(l *slog.Logger) Option { return func(c *config) { c.log = l } }

// OnSurfaces takes the memory from a library of surfaces other than the system's. It is for
// package surfaces, whose Library.Option gives it to everybody else. Opening with a nil
// table is ErrOption.
func OnSurfaces(t *iosurface.Table) Option {
	return func(c *config) { c.foreign, c.table = true, t }
}
