package unimem

// Ring is a Block whose pages are mapped twice in a row, so that no window of at most Size bytes breaks at the end:
// behind the last byte comes the first again. A producer writes at growing positions, and a consumer reads the last n
// bytes as one slice. It copies nothing.
//
// All methods are safe for concurrent use. The caller synchronizes the bytes, and keeps a window for no longer than
// the producer leaves it alone.
type Ring struct {
	block *Block
	mem   []byte // the pages twice
	unmap func() error
}

// opRing is Error.Op of a Ring.
const opRing = "ring"

// NewRing makes a Ring of a new Block of at least size bytes, rounded up to PageSize. The caller closes the Ring, which
// owns the Block. It works on Linux, and on macOS by mach_vm_remap, which no Mac has run yet.
//
// Errors are those of Open; ErrOption with OnHeap, and ErrCreate where a system has no shared memory.
func NewRing(size int, opts ...Option) (*Ring, error) {
	c := configure(opts)
	if err := refuse(c, forBlock, opRing, size); err != nil {
		return nil, err
	}
	if c.Heap {
		return nil, fail(opRing, size, ErrOption, "memory of the heap cannot be mapped twice: leave out OnHeap")
	}
	b, err := openBlock(size, c, new(life), true)
	if err != nil {
		return nil, err
	}
	mem, unmap, err := b.back.twice()
	if err != nil {
		if first, _ := endLife(b.life, b.Size()); first {
			_ = b.tearDown() // the first failure is the one to report
		}
		return nil, err
	}
	return &Ring{block: b, mem: mem, unmap: unmap}, nil
}

// Window is the n bytes from position at, which counts from the beginning and grows without bound: at and at+Size are
// the same byte. It is nil after Close, for n above Size and for a negative n.
func (r *Ring) Window(at uint64, n int) []byte {
	if r == nil || r.block == nil || r.block.life.closed() || n < 0 || n > r.block.Size() {
		return nil
	}
	i := int(at % uint64(r.block.Size()))
	return r.mem[i : i+n : i+n]
}

// Size is the number of bytes until they repeat, a multiple of PageSize.
func (r *Ring) Size() int { return r.Block().Size() }

// Block has the same bytes, from position 0, at an address of its own. An engine takes a tensor on it where it takes
// one on a Block. The Ring owns it.
func (r *Ring) Block() *Block {
	if r == nil {
		return nil
	}
	return r.block
}

// Close frees the pages and makes all windows invalid; repeating it returns nil. Errors: ErrInUse (the Block is
// retained or has a Mapping; nothing is closed), ErrRelease.
func (r *Ring) Close() error {
	if r == nil || r.block == nil {
		return nil
	}
	first, err := endLife(r.block.life, r.Size())
	if !first {
		return err
	}
	unmapped := r.unmap()
	if err := r.block.tearDown(); err != nil {
		return err
	}
	if unmapped != nil {
		return because(opRing, r.Size(), ErrRelease, unmapped, "")
	}
	return nil
}
