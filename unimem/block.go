package unimem

import (
	"os"
	"runtime"
)

// backing is one way of getting memory. An implementation owns its pages from creation
// until close, which is called once.
type backing interface {
	bytes() []byte // from a page of the system, as long as the rounded size
	handle() uintptr
	id() uint32
	pinned() bool
	kind() string
	warm() error // an *Error
	// remap maps the same pages a second time, from the handle alone; its errors are an *Error.
	remap() (mem []byte, unmap func() error, err error)
	// share returns a descriptor for another process, which the caller owns; ErrShare
	// with a hint where there is none.
	share() (*os.File, error)
	close(poison bool) error
}

// Block is a run of shared memory: one IOSurface on macOS, one memfd on Linux, heap memory
// elsewhere. It begins at a page of the system (16 KiB on macOS, usually 4 KiB on Linux).
// Address, size and id never change. All methods are safe for concurrent use; reading and
// writing the bytes is the caller's to order, and slices, spans and views into a Block die
// with it: using one after Close is a fault of the caller.
type Block struct {
	mem     []byte
	addr    uintptr
	number  uint32
	owned   bool // by a Tape, Grid or Layout, which alone may end it
	poison  bool
	life    *life
	back    backing
	last    endings
	counted int64 // bytes that Stats.Bytes has for it
	cleanup runtime.Cleanup
}

// Open makes a Block of at least size bytes, rounded up to PageSize. Pages read as zero,
// appear on first touch and stay.
//
// Errors: ErrZeroSize, ErrSize, ErrCreate, ErrLock (macOS), ErrExhausted (with one of these
// two), ErrPin (with RequirePinned), ErrOption (SurfacePerCell, or a nil library of surfaces).
func Open(size int, opts ...Option) (*Block, error) {
	c := configure(opts)
	if err := refuse(c, "open", size); err != nil {
		return nil, err
	}
	return openBlock(size, c, new(life), false)
}

func openBlock(size int, c config, l *life, owned bool) (*Block, error) {
	rounded, err := roundSize("open", size)
	if err != nil {
		return nil, err
	}
	if err := checkMemory("open", rounded); err != nil {
		return nil, err
	}
	return recovering(func() (*Block, error) {
		raw, err := openBacking(rounded, c)
		if err != nil {
			return nil, err
		}
		return newBlock(raw, c, l, owned)
	})
}

// newBlock takes over the backing: the Block owns it, or it is closed.
func newBlock(raw backing, c config, l *life, owned bool) (*Block, error) {
	back := opened{raw}
	if err := back.settle(c); err != nil {
		return nil, err
	}
	mem := back.bytes()
	b := &Block{
		mem: mem, addr: address(mem), number: back.id(),
		owned: owned, poison: c.Poison, life: l, back: raw,
	}
	if !c.Adopted {
		b.counted = int64(len(mem))
	}
	process.blocks.Add(1)
	process.bytes.Add(b.counted)
	b.cleanup = runtime.AddCleanup(b, forgotten.report, forgotten{b.number, len(mem), back.kind(), c.Log})
	return b, nil
}

// opened is a backing whose options are still to be met.
type opened struct{ backing }

// settle meets the options, or closes the backing.
func (o opened) settle(c config) error {
	size := len(o.bytes())
	if c.Pin && !o.pinned() {
		return &Error{Op: "open", Size: size, Err: ErrPin, Cause: o.close(false), Hint: pinHint(o.kind())}
	}
	if c.Warm {
		if err := o.warm(); err != nil {
			_ = o.close(false) // the first failure is the one to report
			return err
		}
	}
	return nil
}

func pinHint(kind string) string {
	if kind == kindHeap {
		return "heap memory cannot be pinned"
	}
	return "raise the locked-memory limit (ulimit -l), or open without RequirePinned"
}

// Address is the first byte's address. It does not change, not even by Close.
func (b *Block) Address() uintptr {
	if b == nil {
		return 0
	}
	return b.addr
}

// Size is the size in bytes, a multiple of PageSize unless the Block is an adopted
// surface.
func (b *Block) Size() int { return b.size() }

// ID is the IOSurface id on macOS, otherwise a number unique in this process. Only a Block
// that was never opened has 0.
func (b *Block) ID() uint32 {
	if b == nil {
		return 0
	}
	return b.number
}

// Handle is the IOSurfaceRef on macOS, the file descriptor of the memfd on Linux, and 0 for
// heap memory or after Close. The Block keeps owning it.
func (b *Block) Handle() uintptr {
	if b == nil || b.life.closed() {
		return 0
	}
	return b.back.handle()
}

// Backing names what the memory is: "IOSurface", "memfd" or "heap".
func (b *Block) Backing() string {
	if b == nil || b.back == nil {
		return ""
	}
	return b.back.kind()
}

// Pinned reports whether touched pages are held in memory.
func (b *Block) Pinned() bool { return b != nil && b.back != nil && b.back.pinned() }

// Bytes is the whole memory, nil after Close.
func (b *Block) Bytes() []byte {
	if b == nil || b.life.closed() {
		return nil
	}
	return b.mem
}

// Retain holds the Block open until a matching Release. ErrClosed after Close.
func (b *Block) Retain() error {
	if b == nil || !b.life.retain() {
		return &Error{Op: "retain", Size: b.size(), Err: ErrClosed}
	}
	return nil
}

// Release undoes one Retain. A Release without one changes nothing and is counted in
// Stats.Unbalanced.
func (b *Block) Release() {
	if b == nil || !b.life.release() {
		process.unbalanced.Add(1)
	}
}

// Close gives the memory back, once; repeating it returns nil. ErrInUse while the Block is
// retained, or when it belongs to a Tape, Grid or Layout: nothing has changed then.
// ErrRelease when the system refuses, which it has no reason to: the Block is closed then.
func (b *Block) Close() error {
	if b == nil {
		return nil
	}
	if b.owned && !b.life.closed() {
		return &Error{Op: "close", Size: b.size(), Err: ErrInUse,
			Hint: "close the Tape, Grid or Layout that owns the Block"}
	}
	first, err := endLife(b.life, b.size())
	if !first {
		return err
	}
	return b.tearDown()
}

// endLife is life.end with the error for the caller of a Close.
func endLife(l *life, size int) (bool, error) {
	first, err := l.end()
	if err != nil {
		return false, &Error{Op: "close", Size: size, Err: err,
			Hint: "release every Retain and close every Mapping first"}
	}
	return first, nil
}

// tearDown runs once, by whoever ended the life.
func (b *Block) tearDown() error {
	b.cleanup.Stop()
	b.last.run()
	process.blocks.Add(-1)
	process.bytes.Add(-b.counted)
	if err := b.back.close(b.poison); err != nil {
		return &Error{Op: "close", Size: len(b.mem), Err: ErrRelease, Cause: err}
	}
	return nil
}

func (b *Block) size() int {
	if b == nil {
		return 0
	}
	return len(b.mem)
}
