package unimem

import "github.com/anekit/anekit/internal/blockoption"

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

// use is what the opened memory is for: some options apply to one use only.
type use uint8

const (
	forBlock use = iota
	forTape
	forGrid
	forMemory // of another library of this process
	forSurface
)

// refuse reports options that do not apply to u. With a nil library of surfaces, or with two (see blockoption.On),
// other memory would take the place of surfaces.
func refuse(c config, u use, op string, size int) error {
	hint := ""
	switch {
	case c.PerCell && u != forGrid:
		hint = "SurfacePerCell is for NewGrid only"
	case c.Stale && u != forGrid:
		hint = "StaleOnClose is for NewGrid only"
	case c.InBlocks && u != forTape:
		hint = "InBlocks and SurfacePerSpan are for Start and NewLayout only"
	case c.ReadOnly && u != forMemory:
		hint = "ReadOnly is for AdoptMemory only"
	case c.Heap && c.Adopted:
		hint = "OnHeap does not apply to existing memory"
	case c.Foreign && c.Adopted && u != forSurface:
		hint = "a library of surfaces applies to surfaces alone"
	case c.Clash:
		hint = "name one library of surfaces"
	case c.Foreign && c.Table == nil:
		hint = "the library of surfaces is nil: load one first"
	default:
		return nil
	}
	return fail(op, size, ErrOption, hint)
}

// adoptOptions returns the options for size bytes of existing memory, and reports those that do not apply to it.
func adoptOptions(op string, u use, size int, opts []Option) (config, error) {
	c := configure(opts)
	c.Adopted = true
	if err := checkSize(op, size); err != nil {
		return c, err
	}
	return c, refuse(c, u, op, size)
}

// Warm touches every page while opening, so that no later access pays for a first touch.
//
// On Linux 6.1 and later it allocates huge pages of 2 MiB (MADV_COLLAPSE) for Blocks on shared memory of 2 MiB and
// more. Where /sys/kernel/mm/transparent_hugepage/shmem_enabled is "deny", or memory is too fragmented, the pages are
// those of the system. Direct reads into huge pages took less than half the time (BenchmarkLoad of package
// safetensors), and so did allocating them. A Block without Warm gets pages of 4 KiB as they are touched.
// madvise(MADV_HUGEPAGE) has no effect on a memfd as long as shmem_enabled is "never", the kernel's default
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

// ReadOnly marks adopted memory that must not be written to. Only AdoptMemory accepts it.
func ReadOnly() Option { return func(c *config) { c.ReadOnly = true } }

// ReadOnly reports whether the memory must not be written to, because a write may end the process. It is true for
// Blocks of MapFile and of AdoptMemory with ReadOnly, also after Close.
func (b *Block) ReadOnly() bool { return b != nil && b.readOnly }
