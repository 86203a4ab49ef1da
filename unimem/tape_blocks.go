package unimem

import (
	"errors"
	"math"
	"slices"
	"sync"
)

// SurfacePerSpan puts each span of a Tape at byte 0 of a Block of its own, because an engine may read a bound surface
// only from its first byte. Otherwise it is InBlocks.
func SurfacePerSpan() Option { return func(c *config) { c.InBlocks, c.Each = true, 0 } }

// InBlocks makes a Tape of Blocks of at least each bytes, which Take opens when a span needs one; a longer span has a
// Block of its own. So a Tape can exceed the 4 GiB of an IOSurface, and memory that no span needs is not reserved. The
// size of Start and NewLayout is then the most bytes of all spans, and 0 is no limit. Clear keeps the Blocks for later
// spans. Take locks, and its errors include those of Open. It refuses an alignment above PageSize with
// ErrInvalidAlignment.
func InBlocks(each int) Option { return func(c *config) { c.InBlocks, c.Each = true, max(each, 1) } }

// several is the memory of a Tape with InBlocks or SurfacePerSpan.
type several struct {
	config config
	life   *life
	limit  int // of taken; 0 without

	mu     sync.Mutex
	blocks []*Block
	count  int // Blocks with spans; the others are of before Clear
	used   int // bytes of the last of these
	taken  int // bytes of all spans
}

// take returns the memory of a new span. It opens a Block without the lock, since functions of OnExhausted may use the
// Tape meanwhile.
func (s *several) take(size, align int) ([]byte, error) {
	for {
		span, err := s.span(size, align)
		if span != nil || err != nil {
			return span, err
		}
		b, err := openBlock(max(size, s.config.Each), s.config, s.life, true)
		if err != nil {
			return nil, err
		}
		if err := s.add(b); err != nil {
			return nil, err
		}
	}
}

// add keeps a Block for a later span. The error is ErrClosed for a closed Tape, whose other Blocks are closed already.
func (s *several) add(b *Block) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.closed() {
		if err := b.tearDown(); err != nil {
			return errors.Join(ErrClosed, err)
		}
		return ErrClosed
	}
	s.blocks = append(s.blocks, b)
	return nil
}

// span returns the memory of a new span, or nil if no Block has room for it.
func (s *several) span(size, align int) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.life.closed():
		return nil, ErrClosed
	case align <= 0 || align&(align-1) != 0 || align > PageSize:
		return nil, ErrInvalidAlignment
	case size < 0:
		return nil, ErrSize
	case size > math.MaxInt-max(s.limit, s.taken):
		return nil, errOverflow
	case s.limit > 0 && size > s.limit-s.taken:
		return nil, ErrTapeFull
	case size == 0:
		return []byte{}, nil
	}
	at := (s.used + align - 1) &^ (align - 1)
	if s.config.Each == 0 || s.count == 0 || size > s.blocks[s.count-1].Size()-at {
		i := s.count
		for i < len(s.blocks) && s.blocks[i].Size() < size {
			i++
		}
		if i == len(s.blocks) {
			return nil, nil
		}
		s.blocks[s.count], s.blocks[i] = s.blocks[i], s.blocks[s.count]
		s.count++
		at = 0
	}
	s.used, s.taken = at+size, s.taken+size
	return s.blocks[s.count-1].mem[at : at+size : at+size], nil
}

// find returns the Block of bytes, nil without one, their offset in it, and whether they are in spans.
func (s *several) find(b []byte) (block *Block, at int, taken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.blocks, func(block *Block) bool { return block.contains(b) })
	if i < 0 {
		return nil, 0, false
	}
	at = int(address(b) - s.blocks[i].addr)
	return s.blocks[i], at, i < s.count-1 || i == s.count-1 && at+len(b) <= s.used
}

// size returns the bytes of all spans, and those that there can be. A closed Tape counts as full.
func (s *several) size() (used, total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	total = s.limit
	if total == 0 {
		for _, b := range s.blocks {
			total += b.Size()
		}
	}
	if s.life.closed() {
		return total, total
	}
	return s.taken, total
}

func (s *several) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count, s.used, s.taken = 0, 0, 0
}

// tearDown closes the Blocks. It is called once, by the caller that ended their life.
func (s *several) tearDown() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return tearDownAll(s.blocks)
}
