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
	if len(opts) == 0 {
		return config{} // which needs no memory
	}
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
		return fail(op, size, ErrOption, "SurfacePerCell is for NewGrid only")
	case c.Stale:
		return fail(op, size, ErrOption, "StaleOnClose is for NewGrid only")
	}
	return refuseAnywhere(c, op, size)
}

// refuseAnywhere reports options that no opening call accepts. Of a nil library of surfaces, or of two (see
// blockoption.On), other memory would take the place of surfaces.
func refuseAnywhere(c config, op string, size int) error {
	switch {
	case c.InBlocks:
		return fail(op, size, ErrOption, "InBlocks and SurfacePerSpan are for Start and NewLayout only")
	case c.ReadOnly:
		return fail(op, size, ErrOption, "ReadOnly is for AdoptMemory only")
	case c.Clash:
		return fail(op, size, ErrOption, "name one library of surfaces")
	case c.Foreign && c.Table == nil:
		return fail(op, size, ErrOption, "the library of surfaces is nil: load one first")
	}
	return nil
}

// Warm touches every page while opening, so that no later access pays for a first touch.
//
// On Linux 6.1 and later it allocates huge pages of 2 MiB (MADV_COLLAPSE) for Blocks on shared memory of 2 MiB and
// more. Where /sys/kernel/mm/transparent_hugepage/shmem_enabled is "deny", or memory is too fragmented, the pages are
// those of the system. Direct reads into huge pages took less than half the time (BenchmarkLoad of package
// safetensors), and so did allocating them. A Block without Warm gets pages of 4 KiB as they are touched:
// madvise(MADV_HUGEPAGE) has no effect on a memfd as long as shmem_enabled is "never", the default of the kernel
// (BenchmarkHugePages).
func Warm() Option { return func(c *config) { c.Warm = true } }

// RequirePinned makes opening fail with ErrPin unless touched pages are known to stay in memory. That is always so on
// macOS, which does not tell it of IOSurfaces. Without RequirePinned such a Block opens, and Pinned returns false.
func RequirePinned() Option { return func(c *config) { c.Pin = true } }

// SurfacePerCell puts each cell of a Grid at offset 0 of its own Block, because an engine may read a bound surface only
// from its first byte. Only NewGrid accepts it.
func SurfacePerCell() Option { return func(c *config) { c.PerCell = true } }

// StaleOnClose lets Close of a Grid succeed while cells are taken. They become stale: they have no Bytes and no Block,
// and Give returns ErrClosed. The caller must not use slices of their bytes after Close. Only NewGrid accepts it.
func StaleOnClose() Option { return func(c *config) { c.Stale = true } }

// OnHeap allocates the memory on the Go heap: aligned to PageSize, not pinned, without a handle. The race detector sees
// such memory. Systems without shared memory always use it. Beyond GOMEMLIMIT, or the limits on address space and data,
// the error is ErrCreate with ErrExhausted.
func OnHeap() Option { return func(c *config) { c.Heap = true } }

// PoisonOnClose keeps the address range of a closed Block reserved without access until the process ends. So a stale
// view faults instead of reading other memory. It is for tests: the address range (not the pages) is never freed. It
// works on Linux only; a Block on the heap or on a surface ignores it.
func PoisonOnClose() Option { return func(c *config) { c.Poison = true } }

// Logger sets where a Block that becomes unreachable before Close is logged; the default, and nil, is slog.Default. A
// test logs there to find forgotten Blocks.
func Logger(l *slog.Logger) Option { return func(c *config) { c.Log = l } }

// ReadOnly marks adopted memory that must not be written to. Only AdoptMemory accepts it.
func ReadOnly() Option { return func(c *config) { c.ReadOnly = true } }

// ReadOnly reports whether the memory must not be written to, because a write may end the process. It is true for
// Blocks of MapFile and of AdoptMemory with ReadOnly, also after Close.
func (b *Block) ReadOnly() bool { return b != nil && b.readOnly }
