package unimem

import (
	"math"
	"sync/atomic"
)

// Tape hands out spans of a Block one behind the other. Take is lock-free and allocates
// nothing; all methods are safe for concurrent use. Memory a Clear gives back is handed out
// again, so the caller orders Clear after the last use of every span.
//
// cursor is the number of bytes used. It alone decides who gets a span: winning the
// exchange from cur to cur+n is owning those n bytes. It publishes no other data, and since
// an equal value means equal free space, a value that comes back (Clear, then the same
// takes) is as good as one that never changed. The top bit means closed: no Take fits above
// it, and Clear, which keeps that one bit, cannot bring a closed Tape back.
//
// generation changes with every Clear: before it frees anything, so that spans from before
// are stale by then, and again after, so that those taken in between are stale too.
type Tape struct {
	cursor     atomic.Uintptr
	generation atomic.Uint64
	total      uintptr
	span       // where the bytes are
	block      *Block
	owned      bool // by a Layout, which alone may close it
}

const closedBit = ^(^uintptr(0) >> 1)

// Start makes a Tape over a new Block of at least size bytes. Errors as for Open.
func Start(size int, opts ...Option) (*Tape, error) {
	c := configure(opts)
	if err := refuse(c, "start", size); err != nil {
		return nil, err
	}
	return startTape(size, c, new(life), false)
}

func startTape(size int, c config, l *life, owned bool) (*Tape, error) {
	b, err := openBlock(size, c, l, true)
	if err != nil {
		return nil, err
	}
	return &Tape{total: uintptr(b.Size()), span: spanOf(b.mem), block: b, owned: owned}, nil
}

// refusal says why a Take was not obeyed.
func (t *Tape) refusal(size, align int) error {
	switch {
	case t.closed():
		return ErrClosed
	case align <= 0 || align&(align-1) != 0:
		return ErrInvalidAlignment
	case size < 0:
		return ErrSize
	case size > math.MaxInt-t.Total():
		return overflow{}
	}
	return ErrTapeFull
}

func (t *Tape) closed() bool { return t == nil || t.block == nil || t.cursor.Load()&closedBit != 0 }

// Clear makes the whole Tape free again without zeroing it. It does nothing after Close.
func (t *Tape) Clear() {
	if t != nil {
		t.generation.Add(1)
		t.cursor.And(closedBit)
		t.generation.Add(1)
	}
}

// Generation is a number that every Clear raises. A span belongs to its taker as long as the
// number is what it was when the span was taken; afterwards its bytes may be another's. A
// span that is taken while a Clear is under way is of neither generation. Tensors on a Tape
// keep the number, so that one whose span was cleared is refused.
func (t *Tape) Generation() uint64 {
	if t == nil {
		return 0
	}
	return t.generation.Load()
}

// Used is the number of bytes taken, padding included. A closed Tape counts as full.
func (t *Tape) Used() int {
	if t == nil {
		return 0
	}
	return int(min(t.cursor.Load(), t.total))
}

// Free is the number of bytes left.
func (t *Tape) Free() int { return t.Total() - t.Used() }

// Total is the size in bytes; it does not change.
func (t *Tape) Total() int {
	if t == nil {
		return 0
	}
	return int(t.total)
}

// Block is the memory under the Tape. The Tape owns it: only the Tape can close it.
func (t *Tape) Block() *Block {
	if t == nil {
		return nil
	}
	return t.block
}

// Owns reports whether all of b lies inside the Tape. Nil belongs to nobody.
func (t *Tape) Owns(b []byte) bool {
	_, err := t.Offset(b)
	return err == nil
}

// Offset is where b begins in the Block, in bytes. ErrForeignSpan when b does not lie
// inside the Tape, ErrClosed after Close.
func (t *Tape) Offset(b []byte) (int, error) {
	if t.closed() {
		return 0, &Error{Op: "offset", Size: len(b), Err: ErrClosed}
	}
	at := address(b) - t.block.addr
	if b == nil || at > t.total || uintptr(len(b)) > t.total-at {
		return 0, &Error{Op: "offset", Size: len(b), Err: ErrForeignSpan, Hint: "pass a span taken from this Tape"}
	}
	return int(at), nil
}

// Close gives the memory back, once; repeating it returns nil. ErrInUse while the Block is
// retained or when the Tape belongs to a Layout: nothing has changed then. Spans die.
func (t *Tape) Close() error {
	if t == nil || t.block == nil {
		return nil
	}
	if t.owned && !t.closed() {
		return &Error{Op: "close", Size: t.Total(), Err: ErrInUse, Hint: "close the Layout that owns the Tape"}
	}
	first, err := endLife(t.block.life, t.Total())
	if !first {
		return err
	}
	return t.tearDown()
}

// tearDown runs once, by whoever ended the life of the Block.
func (t *Tape) tearDown() error {
	t.cursor.Or(closedBit)
	return t.block.tearDown()
}
