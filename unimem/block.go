package unimem

import (
	"os"
	"runtime"
)

// backing is the memory of a Block. An implementation owns its pages from creation until close, which is called once.
type backing interface {
	bytes() []byte // starts at a page of the system and has the rounded size
	handle() uintptr
	id() uint32
	// key returns the Key. It may have to ask the system for it, and for that the memory has to be open. The zero Key
	// is unknown.
	key(open bool) Key
	unpinned() error // why pages can be swapped out: an *Error of ErrPin, or nil
	kind() string
	warm() error // an *Error
	// remap maps the same pages again, from the handle alone. Its error is an *Error.
	remap() (mem []byte, unmap func() error, err error)
	// share returns a descriptor for another process, which the caller owns, or ErrShare with a hint.
	share() (*os.File, error)
	close(poison bool) error
}

// Block is a run of shared memory: one IOSurface on macOS, one memfd on Linux, heap memory elsewhere. It begins at a
// page of the system (16 KiB on macOS, usually 4 KiB on Linux). Address, size and id never change. All methods are safe
// for concurrent use; the caller synchronizes reads and writes of the bytes. Slices, spans and views into a Block must
// not be used after Close.
type Block struct {
	mem      []byte
	addr     uintptr
	number   uint32
	owned    bool // a Tape, Grid or Layout owns and closes the Block
	poison   bool
	readOnly bool
	life     *life
	back     backing
	last     endings
	counted  int64 // its bytes in Stats.Bytes
	cleanup  runtime.Cleanup
}

// Open makes a Block of at least size bytes, rounded up to PageSize. Pages are zero; the system allocates them at the
// first touch, and keeps them until Close.
//
// Errors: ErrZeroSize, ErrSize, ErrCreate (with ErrSize on macOS from 4 GiB on, which no IOSurface has), ErrLock
// (macOS), ErrExhausted (with one of these two), ErrPin (with RequirePinned), ErrOption (SurfacePerCell, StaleOnClose,
// ReadOnly).
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

// newBlock takes ownership of the backing: after an error it is closed.
func newBlock(raw backing, c config, l *life, owned bool) (*Block, error) {
	var err error
	if c.Pin {
		err = raw.unpinned()
	}
	if err == nil && c.Warm {
		err = raw.warm()
	}
	if err != nil {
		_ = raw.close(false) // the first failure is the one to report
		return nil, err
	}
	mem := raw.bytes()
	b := &Block{
		mem: mem, addr: address(mem), number: raw.id(),
		owned: owned, poison: c.Poison, readOnly: c.ReadOnly, life: l, back: raw,
	}
	if !c.Adopted {
		b.counted = int64(len(mem))
	}
	process.blocks.Add(1)
	process.bytes.Add(b.counted)
	b.cleanup = runtime.AddCleanup(b, forgotten.report, forgotten{b.number, len(mem), raw.kind(), c.Log})
	return b, nil
}

// opPin is Error.Op of memory that is not pinned.
const opPin = "pin"

// Address is the address of the first byte, also after Close. It is 0 for nil.
func (b *Block) Address() uintptr {
	if b == nil {
		return 0
	}
	return b.addr
}

// Size is the size in bytes. It is a multiple of PageSize unless the Block is an adopted surface, a file or memory of
// another library.
func (b *Block) Size() int { return b.size() }

// ID is the IOSurface id on macOS, otherwise a number unique in this process. It is 0 only for the zero Block and nil.
func (b *Block) ID() uint32 {
	if b == nil {
		return 0
	}
	return b.number
}

// Handle is the IOSurfaceRef on macOS, the file descriptor on Linux, and 0 for heap memory or after Close. The Block
// owns it. Two Blocks of one surface may have different IOSurfaceRefs: compare Keys to see whether the memory is the
// same.
func (b *Block) Handle() uintptr {
	if b == nil || b.life.closed() {
		return 0
	}
	return b.back.handle()
}

// Backing is the kind of memory: "IOSurface", "memfd", "heap", "file" (MapFile), "foreign" (AdoptMemory), or "shm". The
// last is an unlinked file in /dev/shm, which takes the place of a memfd on a Linux that has none.
func (b *Block) Backing() string {
	if b == nil || b.back == nil {
		return ""
	}
	return b.back.kind()
}

// Pinned reports whether touched pages are known to stay in memory. It is false for an IOSurface, of which that is
// unknown.
func (b *Block) Pinned() bool { return b != nil && b.back != nil && b.back.unpinned() == nil }

// Unpinned returns the reason why Pinned is false, an error that matches ErrPin: heap memory, the limit on locked
// memory, or a system that cannot lock pages when they are allocated. For an IOSurface it also matches ErrPinUnknown.
// It is nil for pinned memory.
func (b *Block) Unpinned() error {
	if b == nil || b.back == nil {
		return nil
	}
	return b.back.unpinned()
}

// Key identifies memory: Blocks of the same memory have equal Keys, open Blocks of different memory have different
// ones, also in different processes of a machine. It is comparable. The system may give the Key of closed memory to new
// memory.
type Key struct {
	Kind string // Backing
	// Space and Number are device and inode of a file, 0 and the id of a surface, and for memory of the process a
	// random number of the process and Block.ID.
	Space, Number uint64
}

// Key returns the Key of the Block's memory. It does not change, but the first call has to be before Close: after Close
// Key may return the zero Key, as it does for the zero Block and nil.
func (b *Block) Key() Key {
	if b == nil || b.back == nil {
		return Key{}
	}
	open := b.life.retain()
	if open {
		defer b.life.release()
	}
	return b.back.key(open)
}

// Bytes is the whole memory, nil after Close.
func (b *Block) Bytes() []byte {
	if b == nil || b.life.closed() {
		return nil
	}
	return b.mem
}

// Retain keeps the Block open until a matching Release. The error is ErrClosed after Close.
func (b *Block) Retain() error {
	if b == nil || !b.life.retain() {
		return &Error{Op: "retain", Size: b.size(), Err: ErrClosed}
	}
	return nil
}

// Release reverses one Retain. A Release without a Retain does nothing except increment Stats.Unbalanced.
func (b *Block) Release() {
	if b == nil || !b.life.release() {
		process.unbalanced.Add(1)
	}
}

// Close frees the memory, once; repeating it returns nil.
//
// Errors: ErrInUse (the Block is retained, or a Tape, Grid or Layout owns it; Close has changed nothing), ErrRelease (a
// system call failed unexpectedly; the Block is closed).
func (b *Block) Close() error {
	if b == nil {
		return nil
	}
	if b.owned && !b.life.closed() {
		return fail("close", b.size(), ErrInUse, "close the Tape, Grid or Layout that owns the Block")
	}
	first, err := endLife(b.life, b.size())
	if !first {
		return err
	}
	return b.tearDown()
}

// endLife is life.end with the error that Close returns.
func endLife(l *life, size int) (bool, error) {
	first, err := l.end()
	if err != nil {
		return false, fail("close", size, err, "release every Retain and close every Mapping first")
	}
	return first, nil
}

// tearDown is called once, by the caller that ended the life.
func (b *Block) tearDown() (err error) {
	b.cleanup.Stop()
	defer func() { err = b.free() }() // after a panic too
	b.last.run()
	return nil
}

func (b *Block) free() error {
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
