package unimem

import (
	"log/slog"

	"github.com/anekit/anekit/internal/blockoption"
)

// Option configures the calls that open memory.
type Option func(*config)

// config is what the options of one call set. Its type is internal and shared, so that the stand-in and tests can make
// an Option for surfaces of a library of their own.
type config = blockoption.Settings

func configure(opts []Option) config {
	var c config
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return c
}

// refuseTape reports options that do not apply to a Tape or Layout.
func refuseTape(c config, op string, size int) error {
	c.InBlocks = false
	return refuse(c, op, size)
}

// refuse reports options that do not apply to a Block.
func refuse(c config, op string, size int) error {
	switch {
	case c.PerCell:
		return &Error{Op: op, Size: size, Err: ErrOption, Hint: "SurfacePerCell is for NewGrid only"}
	case c.Stale:
		return &Error{Op: op, Size: size, Err: ErrOption, Hint: "StaleOnClose is for NewGrid only"}
	}
	return refuseAnywhere(c, op, size)
}

// refuseAnywhere reports ReadOnly, and a nil library of surfaces or two of them (see blockoption.On). Otherwise other
// memory would be used instead of surfaces.
func refuseAnywhere(c config, op string, size int) error {
	switch {
	case c.InBlocks:
		return &Error{Op: op, Size: size, Err: ErrOption,
			Hint: "InBlocks and SurfacePerSpan are for Start and NewLayout only"}
	case c.ReadOnly:
		return &Error{Op: op, Size: size, Err: ErrOption, Hint: "ReadOnly is for AdoptMemory only"}
	case c.Clash:
		return &Error{Op: op, Size: size, Err: ErrOption, Hint: "name one library of surfaces"}
	case c.Foreign && c.Table == nil:
		return &Error{Op: op, Size: size, Err: ErrOption, Hint: "the library of surfaces is nil: load one first"}
	}
	return nil
}

// Warm touches every page while opening, so that no later access pays for a first touch. On Linux 6.1 and later
// the kernel gives huge pages where they fit: see the package's documentation.
func Warm() Option { return func(c *config) { c.Warm = true } }

// RequirePinned makes opening fail with ErrPin unless touched pages are known to stay in memory,
// so always on macOS, where that is unknown of IOSurfaces. Without it such a Block opens, and
// Pinned returns false.
func RequirePinned() Option { return func(c *config) { c.Pin = true } }

// SurfacePerCell puts each cell of a Grid at offset 0 of its own Block, because an engine may
// read a bound surface only from its first byte. Only NewGrid accepts it.
func SurfacePerCell() Option { return func(c *config) { c.PerCell = true } }

// StaleOnClose lets Close of a Grid succeed while cells are taken. They become stale: they have no
// Bytes and no Block, and Give returns ErrClosed. Slices of their bytes must not be used after
// Close, which the caller has to ensure. Only NewGrid accepts it.
func StaleOnClose() Option { return func(c *config) { c.Stale = true } }

// OnHeap allocates the memory on the Go heap: aligned to PageSize, not pinned, without a
// handle. The race detector sees such memory. Systems without shared memory always use it. Beyond
// a limit of the process that can be known the error is ErrCreate with ErrExhausted.
func OnHeap() Option { return func(c *config) { c.Heap = true } }

// PoisonOnClose keeps the address range of a closed Block reserved without access until the
// process ends, so that using a stale view faults instead of reading other memory. It is for
// tests: the address range (not the pages) is never freed. It works on Linux only; a Block on
// the heap or on a surface ignores it.
func PoisonOnClose() Option { return func(c *config) { c.Poison = true } }

// Logger logs Blocks that become unreachable before Close. Without it, or with nil, they are
// logged to slog.Default.
func Logger(l *slog.Logger) Option { return func(c *config) { c.Log = l } }
