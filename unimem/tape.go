package unimem

import "sync/atomic"

// Tape allocates spans of a Block one after the other. Take is lock-free and allocates no Go memory. All methods are
// safe for concurrent use. Clear frees all spans for reuse, so the caller must not use a span after Clear.
//
// cursor is the address of the first free byte: Take aligns it without adding where the Tape begins. The caller whose
// compare-exchange changes it from cur to cur+n owns those n bytes. It publishes no other data. An equal value means
// equal free space, so a value that repeats (Clear, then the same takes) causes no harm. The top bit, which no address
// has, means closed: no Take fits above it, and Clear keeps it, so that a closed Tape stays closed.
//
// Every Clear changes generation twice. Before it frees the bytes, so that earlier spans are stale by then, and
// afterwards, so that spans taken in between are stale too.
type Tape struct {
	cursor     atomic.Uintptr
	generation atomic.Uint64
	limit      uintptr // the address of the end, plus 1
	total      uintptr
	base       pointer  // to the first byte
	addr       uintptr  // of the first byte
	block      *Block   // nil with several
	several    *several // with InBlocks; then the fields above but generation are zero
	life       *life    // of the Blocks
	owned      bool     // a Layout owns and closes the Tape
}

const closedBit = ^(^uintptr(0) >> 1)

// Start makes a Tape of a new Block of at least size bytes, or of several Blocks with InBlocks or SurfacePerSpan. The
// caller closes the Tape, which owns its Blocks. Errors are those of Open.
func Start(size int, opts ...Option) (*Tape, error) {
	c := configure(opts)
	if err := refuse(c, forTape, "start", size); err != nil {
		return nil, err
	}
	return startTape(size, c, new(life), false)
}

func startTape(size int, c config, l *life, owned bool) (*Tape, error) {
	if c.InBlocks {
		if size < 0 {
			return nil, fail("start", size, ErrSize, "0 is for no limit")
		}
		return &Tape{several: &several{config: c, life: l, limit: size}, life: l, owned: owned}, nil
	}
	b, err := openBlock(size, c, l, true)
	if err != nil {
		return nil, err
	}
	return tapeOf(b, owned), nil
}

// tapeOf makes a Tape of all bytes of a Block.
func tapeOf(b *Block, owned bool) *Tape {
	t := &Tape{total: uintptr(b.Size()), base: pointerTo(b.mem), addr: address(b.mem), block: b,
		life: b.life, owned: owned}
	t.limit = t.addr + t.total + 1
	t.cursor.Store(t.addr)
	return t
}

func (t *Tape) closed() bool { return t == nil || t.life.closed() }

// Clear frees all spans without zeroing them. It does nothing after Close.
func (t *Tape) Clear() {
	if t != nil {
		t.generation.Add(1)
		if t.several != nil {
			t.several.clear()
		}
		for cur := t.cursor.Load(); cur&closedBit == 0 && !t.cursor.CompareAndSwap(cur, t.addr); {
			cur = t.cursor.Load()
		}
		t.generation.Add(1)
	}
}

// Generation is a number that every Clear and Close change. A span is valid as long as the number is the same as when
// it was taken; later its bytes may belong to another span. A span that is taken during a Clear belongs to neither
// generation. Tensors on a Tape store the number, so that a tensor on a cleared span is refused.
func (t *Tape) Generation() uint64 {
	if t == nil {
		return 0
	}
	return t.generation.Load()
}

// Used is the number of used bytes, including padding. A closed Tape counts as full.
func (t *Tape) Used() int {
	switch {
	case t == nil:
		return 0
	case t.several != nil:
		used, _ := t.several.size()
		return used
	}
	return int(min(t.cursor.Load()-t.addr, t.total))
}

// Free is the number of free bytes.
func (t *Tape) Free() int { return t.Total() - t.Used() }

// Total is the size in bytes; it does not change, except that it is the size of the open Blocks for a Tape of several
// without a limit.
func (t *Tape) Total() int {
	switch {
	case t == nil:
		return 0
	case t.several != nil:
		_, total := t.several.size()
		return total
	}
	return int(t.total)
}

// Block returns the Block of the Tape, nil for a Tape of several. The Tape owns it: only the Tape can close it.
func (t *Tape) Block() *Block {
	if t == nil {
		return nil
	}
	return t.block
}

// Owns reports whether all of b lies inside the Tape. It is false for nil, and for an empty span at the end of the
// Tape, where other memory may begin.
func (t *Tape) Owns(b []byte) bool {
	_, _, _, err := t.find(b)
	return err == nil
}

// SurfacePerSpan reports whether each span begins at byte 0 of a Block of its own, by the option of that name.
func (t *Tape) SurfacePerSpan() bool {
	return t != nil && t.several != nil && t.several.config.Each == 0
}

// Taken reports whether b lies in spans that were taken since the last Clear.
func (t *Tape) Taken(b []byte) bool {
	_, _, taken, err := t.find(b)
	return taken && err == nil
}

// Place returns the Block that b lies in, which the Tape owns, and the offset of b in it, in bytes. Errors:
// ErrForeignSpan (Owns is false for b), ErrClosed.
func (t *Tape) Place(b []byte) (*Block, int, error) {
	block, at, _, err := t.find(b)
	return block, at, err
}

// find returns the Block of b, its offset there, and whether it is in spans.
func (t *Tape) find(b []byte) (block *Block, at int, taken bool, err error) {
	switch {
	case t.closed():
		return nil, 0, false, fail("place", len(b), ErrClosed, "")
	case t.several != nil:
		block, at, taken = t.several.find(b)
	case t.block.contains(b):
		block, at = t.block, int(address(b)-t.block.addr)
		taken = at+len(b) <= t.Used()
	}
	if block == nil {
		return nil, 0, false, fail("place", len(b), ErrForeignSpan, "pass a span taken from this Tape")
	}
	return block, at, taken, nil
}

// contains reports whether all of b lies inside the Block.
func (b *Block) contains(part []byte) bool {
	at, size := address(part)-b.addr, uintptr(len(b.mem))
	return part != nil && at < size && uintptr(len(part)) <= size-at
}

// Close frees the memory, once; repeating it returns nil. Spans must not be used afterwards.
//
// Errors: ErrInUse (a Block is retained, or a Layout owns or shares the Tape; Close has changed nothing), ErrRelease.
func (t *Tape) Close() error {
	switch {
	case t.closed():
		return nil
	case t.owned:
		return fail("close", t.Total(), ErrInUse, "close the Layout that owns the Tape")
	}
	first, err := endLife(t.life, t.Total())
	if !first {
		return err
	}
	return t.tearDown()
}

// tearDown is called once, by the caller that ended the life of the Blocks.
func (t *Tape) tearDown() error {
	t.generation.Add(1)
	if t.several != nil {
		return t.several.tearDown()
	}
	t.cursor.Store(closedBit)
	return t.block.tearDown()
}
