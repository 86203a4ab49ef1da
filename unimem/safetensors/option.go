package safetensors

import (
	"context"
	"errors"

	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/internal/uring"
)

// Option configures Load, OpenAs, Create and Repack. An option that does not apply to a call is ignored.
type Option func(*config)

type config struct {
	align  int // of the Writer
	expect int // tensors of the Writer
	unsafe bool

	auto     bool
	buffered bool
	ring     bool
	workers  int

	open     func(path string, direct bool) (source, bool, error) // nil except in tests
	start    func(size int, opts ...unimem.Option) (*unimem.Tape, error)
	newRing  func(depth int) (*uring.Ring, error)
	register func(r *uring.Ring, mem []byte) error
}

func configure(opts []Option) config {
	c := config{start: unimem.Start, newRing: uring.Open, register: func(r *uring.Ring, mem []byte) error { return r.Register(mem) }}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return c
}

// Align makes the Writer start every tensor at a multiple of n bytes of the file, a power of two.
// It writes a tensor of bytes, called as Padding reports, wherever the tensor before ends
// elsewhere.
func Align(n int) Option { return func(c *config) { c.align = n } }

// Expect makes the Writer reserve room in the header for about n tensors, default 64. If they need
// more, Close writes the tensors a second time.
func Expect(n int) Option { return func(c *config) { c.expect = n } }

// NoSync makes the Writer neither wait until the file is on the disk nor until its name is. After a
// loss of power the file may be empty or a part of itself.
func NoSync() Option { return func(c *config) { c.unsafe = true } }

// Auto makes Load map the file instead where that is better: see Load.
func Auto() Option { return func(c *config) { c.auto = true } }

// Buffered makes Load read through the page cache, so that another reader finds the file there.
func Buffered() Option { return func(c *config) { c.buffered = true } }

// Ring makes Load read through io_uring where Linux has it: one thread, the memory registered, so that the kernel
// resolves its pages once. Otherwise, and where the file system has no direct reads, Load reads as without
// Ring, and Report.Ring says why. It takes a third of the processor time; the rate is that
// of the disk either way.
func Ring() Option { return func(c *config) { c.ring = true } }

// Workers makes Load read with n goroutines, default 8, or with Ring n reads at a time, default 32. A disk reaches
// its speed with several requests at a time.
func Workers(n int) Option { return func(c *config) { c.workers = n } }

// Mode is how the bytes of files come to memory.
type Mode string

// The modes of OpenAs.
const (
	MapMode  Mode = "map"  // as Open: pages of the files, read when they are touched
	ReadMode Mode = "read" // as Load, into memory of the File
	AutoMode Mode = "auto" // the one of them that Auto chooses
)

// Modes lists the modes.
func Modes() []Mode { return []Mode{MapMode, ReadMode, AutoMode} }

// String returns the mode, which is "map", "read" or "auto".
func (m Mode) String() string { return string(m) }

// OpenAs opens the files that Open opens, and reads them as Load does if mode or Auto says so: into memory that belongs
// to the File. Close frees it, and returns unimem.ErrInUse while a Block of Tensor.Block is retained. Where the system
// refuses that memory, AutoMode maps. Report has how the File was opened, and the reason.
//
// Errors: those of Open and of Load, and those of unimem.Start.
func OpenAs(ctx context.Context, path string, mode Mode, opts ...Option) (*File, error) {
	if mode == MapMode {
		return Open(path)
	}
	c := configure(opts)
	c.auto = mode == AutoMode
	f, err := load(ctx, path, nil, c)
	if c.auto && errors.Is(err, unimem.ErrExhausted) {
		if f, err = Open(path); err == nil {
			f.report.Why = "Auto maps: the system has no memory for a read"
		}
	}
	return f, err
}
