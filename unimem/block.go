package unimem

import (
	"os"
	"runtime"
)

// region describes memory.
type region struct {
	mem      []byte  // begins at a page of the system
	pages    []byte  // mem and the rest of its last page, nil if mem is all
	handle   uintptr // 0 for none
	id       uint32
	kind     string
	unpinned error // why pages can be swapped out: an *Error of ErrPin, or nil
}

// backing is what a system does with the memory of a Block. An implementation owns the pages from creation until close,
// which is called once. Errors are of type *Error, except that of close.
type backing interface {
	about() region
	key() Key
	warm() error // allocates all pages, if the system has a call for that
	// remap maps the same pages again, from the handle alone.
	remap() (mem []byte, unmap func() error, err error)
	// twice is remap of the pages two times in a row.
	twice() (mem []byte, unmap func() error, err error)
	// share returns a descriptor for another process, which the caller owns.
	share() (*os.File, error)
	close(poison bool) error
}

// base has the methods of a backing without a handle.
type base struct {
	region
	unshared string // the hint of a refused share
}

func (b *base) about() region { return b.region }
func (b *base) key() Key      { return Key{b.kind, process.token(), uint64(b.id)} }
func (b *base) warm() error   { return nil }

func (b *base) remap() ([]byte, func() error, error) { return b.mem, func() error { return nil }, nil }

func (b *base) twice() ([]byte, func() error, error) {
	return nil, nil, fail(opRing, len(b.mem), ErrCreate, "memory of the heap has one address: a ring needs shared memory")
}

func (b *base) share() (*os.File, error) {
	return nil, fail("share", len(b.mem), ErrShare, b.unshared)
}

// Block is a run of shared memory: one IOSurface on macOS, one memfd on Linux, heap memory elsewhere. It begins at a
// page of the system (16 KiB on macOS, usually 4 KiB on Linux). Address, size and id never change. All methods are safe
// for concurrent use; the caller synchronizes reads and writes of the bytes. Slices, spans and views into a Block must
// not be used after Close.
type Block struct {
	region   // a copy
	addr     uintptr
	owned    bool // a Tape, Grid or Layout owns and closes the Block
	poison   bool
	readOnly bool
	life     *life
	back     backing
	again    again
	endings  hooks[func()]
	counted  int64 // its bytes in Stats.Bytes
	cleanup  runtime.Cleanup
}

// Open makes a Block of at least size bytes, rounded up to PageSize. Pages are zero; the system allocates them at the
// first touch, and keeps them until Close. More bytes than the machine has memory and swap are refused.
//
// Errors: ErrZeroSize, ErrSize, ErrCreate (with ErrSize on macOS from 4 GiB on, which no IOSurface has), ErrLock
// (macOS), ErrExhausted (with one of these two), ErrPin (with RequirePinned), ErrOption (SurfacePerCell, StaleOnClose,
// ReadOnly).
func Open(size int, opts ...Option) (*Block, error) {
	c := configure(opts)
	if err := refuse(c, forBlock, "open", size); err != nil {
		return nil, err
	}
	return openBlock(size, c, new(life), false)
}

func openBlock(size int, c config, l *life, owned bool) (*Block, error) {
	rounded, err := roundSizes("open", 1, size)
	if err != nil {
		return nil, err
	}
	return recovering(func() (*Block, error) {
		var raw backing
		var err error
		switch {
		case c.Heap:
			raw, err = openHeap(rounded, "")
		case c.Table != nil:
			raw, err = openSurface(c.Table, rounded)
		default:
			raw, err = openSystem(rounded)
		}
		if err != nil {
			return nil, err
		}
		return newBlock(raw, c, l, owned)
	})
}

// newBlock takes ownership of the backing: after an error it is closed.
func newBlock(raw backing, c config, l *life, owned bool) (*Block, error) {
	r := raw.about()
	var err error
	if c.Pin {
		err = r.unpinned
	}
	if err == nil && c.Warm {
		err = raw.warm()
	}
	if err != nil {
		_ = raw.close(false) // the first failure is the one to report
		return nil, err
	}
	switch {
	case c.Warm && c.Adopted:
		look(r.mem) // another owner may be writing
	case c.Warm:
		touch(r.mem)
	}
	b := &Block{region: r, addr: address(r.mem), owned: owned, poison: c.Poison, readOnly: c.ReadOnly, life: l, back: raw}
	if !c.Adopted {
		b.counted = int64(len(r.mem))
	}
	process.blocks.Add(1)
	process.bytes.Add(b.counted)
	b.cleanup = runtime.AddCleanup(b, forgotten.report, forgotten{r.id, len(r.mem), r.kind})
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
func (b *Block) Size() int {
	if b == nil {
		return 0
	}
	return len(b.mem)
}

// ID is the IOSurface id on macOS, otherwise a number unique in this process. It is 0 only for the zero Block and nil.
func (b *Block) ID() uint32 {
	if b == nil {
		return 0
	}
	return b.id
}

// Handle is the IOSurfaceRef on macOS, the file descriptor on Linux, and 0 for heap memory or after Close. The Block
// owns it. Two Blocks of one surface may have different IOSurfaceRefs: compare Keys to see whether the memory is the
// same.
func (b *Block) Handle() uintptr {
	if b == nil || b.life.closed() {
		return 0
	}
	return b.handle
}

// Backing is the kind of memory: "IOSurface", "memfd", "heap", "file" (MapFile), "foreign" (AdoptMemory), or "shm". The
// last is an unlinked file in /dev/shm, which takes the place of a memfd where the kernel or a filter of system calls
// refuses memfd_create. All its pages are allocated at once, because that file system may be small. A Block larger than
// RLIMIT_FSIZE, which counts for both, is "heap".
func (b *Block) Backing() string {
	if b == nil {
		return ""
	}
	return b.kind
}

// Pinned reports whether touched pages are known to stay in memory. It is false for an IOSurface, of which that is
// unknown.
func (b *Block) Pinned() bool { return b != nil && b.back != nil && b.unpinned == nil }

// Unpinned returns the reason why Pinned is false, an error that matches ErrPin. It is heap memory, the limit on locked
// memory, or a system that cannot lock pages when they are allocated. For an IOSurface it also matches ErrPinUnknown.
// It is nil for pinned memory.
func (b *Block) Unpinned() error {
	if b == nil {
		return nil
	}
	return b.unpinned
}

// Key identifies memory. Blocks of the same memory have equal Keys, also in different processes of a machine. Open
// Blocks of different memory have different ones. It is comparable. The system may give the Key of closed memory to new
// memory.
type Key struct {
	Kind string // Backing
	// Space and Number are device and inode of a file, 0 and the id of a surface, and for memory of the process a
	// random number of the process and Block.ID.
	Space, Number uint64
}

// Key returns the Key of the Block's memory. It is the zero Key after Close, and if the system does not tell.
func (b *Block) Key() Key {
	if b.Retain() != nil {
		return Key{}
	}
	defer b.Release()
	return b.back.key()
}

// Bytes is the whole memory, nil after Close.
func (b *Block) Bytes() []byte {
	if b == nil || b.life.closed() {
		return nil
	}
	return b.mem
}

// Pages is Bytes, and for a Block of MapFile also the rest of the last page: a whole number of PageSize. What follows
// the end of the file reads as zero. A GPU takes memory in whole pages. It is nil after Close.
func (b *Block) Pages() []byte {
	if b == nil || b.life.closed() {
		return nil
	}
	if b.pages != nil {
		return b.pages
	}
	return b.mem
}

// Retain keeps the Block open until a matching Release. The error is ErrClosed after Close.
func (b *Block) Retain() error {
	if b == nil || !b.life.retain() {
		return fail("retain", b.Size(), ErrClosed, "")
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
	first, err := b.end()
	if !first {
		return err
	}
	return b.tearDown()
}

// end ends the life of the Block. It returns false if that has ended already, and for nil.
func (b *Block) end() (bool, error) {
	switch {
	case b == nil || b.life.closed():
		return false, nil
	case b.owned:
		return false, fail("close", b.Size(), ErrInUse, "close the Tape, Grid or Layout that owns the Block")
	}
	return endLife(b.life, b.Size())
}

// endLife is life.end with the error that Close returns.
func endLife(l *life, size int) (bool, error) {
	first, err := l.end()
	if err != nil {
		return false, inUse(size, err)
	}
	return first, nil
}

// inUse is the error of a Close while there are holders.
func inUse(size int, err error) error {
	return fail("close", size, err, "release every Retain and close every Mapping first")
}

// tearDown is called once, by the caller that ended the life. If a function of AtClose panics, the others run and the
// memory is freed before the panic reaches the caller.
func (b *Block) tearDown() (err error) {
	b.cleanup.Stop()
	defer func() { err = b.free() }()
	for _, f := range b.endings.end() {
		defer (*f)() // the newest first
	}
	return nil
}

func (b *Block) free() error {
	process.blocks.Add(-1)
	process.bytes.Add(-b.counted)
	if err := b.back.close(b.poison); err != nil {
		return because("close", len(b.mem), ErrRelease, err, "")
	}
	return nil
}
