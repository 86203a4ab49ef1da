package kv

import (
	"errors"
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/unimem"
)

// Cache is the keys and values of one conversation. The caller closes it. One goroutine at a time may use it. A nil or
// zero Cache is closed: its calls return ErrClosed.
type Cache struct {
	config  Config // with its defaults
	opts    []unimem.Option
	slides  bool // it has a window
	sparing bool // it drops pages of its mapping
	token   int  // bytes of one token's keys of a layer, packed
	row     int  // bytes of one head of them
	memory  *memory
	retired []*memory // of before, held by requests

	first, next int   // positions of the oldest token and of the one after the newest
	pending     []int // tokens of each layer after next
	copied      int64
	closed      bool

	shares   *shares // the caches that share its pages; nil if it never forked
	borrowed bool    // the pages are those of another cache

	buffers [2]buffers // between memory and file
	spare   []byte     // for tokens that are checked before they replace others

	undropped int // about the tokens advanced in small parts since pages were dropped; above 0 if pages were written
}

// New makes a cache with a surface for each layer and side. opts are options of unimem.Start: unimem.Warm reserves
// physically, because it touches every page at once.
//
// Errors: ErrSize, the errors of ane.NewLayout (ane.ErrType for an element type that no surface holds,
// ane.ErrShape), and those of unimem.Start.
//
// Where the system has no memory for Context and Grow is set, New reserves half of it, a quarter and so on, Step at
// least: Cap says how much. The cache grows beyond.
func New(c Config, opts ...unimem.Option) (*Cache, error) {
	return open(c, opts, func(c Config, tokens int) (*memory, error) {
		for {
			m, err := newMemory(c, tokens, opts)
			if !c.Grow || tokens <= max(Step, c.Window) || !errors.Is(err, unimem.ErrExhausted) {
				return m, err
			}
			tokens = inSteps(tokens / 2)
		}
	})
}

// NewOn makes a cache on spans of a Tape, such as the history of a unimem.Layout: one for each layer and side. With
// unimem.SurfacePerSpan each is at byte 0 of a surface, as engines want it. The Tape's owner closes the memory. After
// Tape.Clear the cache returns ane.ErrStale. Without unimem.Warm the bytes may be those of earlier spans. opts are
// options of unimem.Start for the memory that forks move to.
//
// Errors: those of New, unimem.ErrTapeFull, and ErrSize for a Config with Grow, because spans cannot be returned.
func NewOn(tape *unimem.Tape, c Config, opts ...unimem.Option) (*Cache, error) {
	if c.Grow {
		return nil, newError("new", ErrSize, "Grow on a Tape",
			"reserve Context on the Tape, or make the cache with New")
	}
	return open(c, opts, func(c Config, tokens int) (*memory, error) { return lentMemory(c, tokens, tape) })
}

// open makes a cache on the memory that surfaces returns.
func open(c Config, opts []unimem.Option, surfaces func(c Config, tokens int) (*memory, error)) (*Cache, error) {
	c, err := c.checked("new")
	if err != nil {
		return nil, err
	}
	tokens, slides := c.capacity()
	m, err := surfaces(c, tokens)
	if err != nil {
		return nil, &Error{Base: errtext.Base{Op: "new", Cause: err}}
	}
	row := m.layout.RowBytes()
	return &Cache{config: c, opts: slices.Clone(opts), slides: slides, memory: m, row: row, token: c.Heads * row,
		sparing: c.Sparing && len(opts) == 0 && (m.lent == nil || m.lent.SurfacePerSpan()),
		pending: make([]int, c.Layers)}, nil
}

// Config returns the configuration, with its defaults.
func (c *Cache) Config() Config {
	if c == nil {
		return Config{}
	}
	return c.config
}

// Len is the number of tokens in the cache.
func (c *Cache) Len() int {
	if c == nil {
		return 0
	}
	return max(0, c.next-c.first)
}

// Position is the position of the next token: Len, except in a cache with a window, which counts on.
func (c *Cache) Position() int {
	if c == nil {
		return 0
	}
	return c.next
}

// Cap is the number of tokens that fit: Context rounded up to a multiple of Step, or Window.
func (c *Cache) Cap() int {
	if c.empty() {
		return 0
	}
	return c.memory.tokens
}

// Bytes is the size of the surfaces in bytes, 0 after Close. Pages that a fork shares count in both caches.
func (c *Cache) Bytes() int {
	if c.empty() {
		return 0
	}
	return c.memory.bytes()
}

// Copied is the number of bytes that the cache has copied to new memory so far, by growing and by forks.
func (c *Cache) Copied() int64 {
	if c == nil {
		return 0
	}
	return c.copied
}

// Keys returns the tensor of a layer's keys, of shape [1, Heads, Cap, HeadDim]. It stays valid until the cache moves
// to new memory or is closed. What it has after the tokens of the cache is undefined. Keys returns nil, whose calls
// return ane.ErrStale, for a layer that does not exist and after Close.
func (c *Cache) Keys(layer int) *ane.Tensor { return c.side(layer, 0) }

// Values is Keys for the values.
func (c *Cache) Values(layer int) *ane.Tensor { return c.side(layer, 1) }

func (c *Cache) side(layer, side int) *ane.Tensor {
	if c.empty() || layer < 0 || layer >= c.config.Layers || c.closed {
		return nil
	}
	return c.memory.tensors[2*layer+side]
}

// empty reports whether c is nil or the zero Cache, which no constructor made.
func (c *Cache) empty() bool { return c == nil || c.memory == nil }

// usable returns the error of a closed cache, or of one whose Tape was cleared.
func (c *Cache) usable(op string) error {
	if c.empty() {
		return newError(op, ErrClosed, "nil or zero Cache", "make it by New")
	}
	if c.closed {
		return newError(op, ErrClosed, "", "")
	}
	if c.memory.stale() {
		return &Error{Base: errtext.Base{Op: op, Cause: ane.ErrStale, Detail: "the Tape was cleared or closed",
			Hint: "make a cache for each conversation, after Tape.Clear"}}
	}
	return nil
}

// Advance makes the next n appended tokens part of the cache. Errors: ErrSize (n below 1), ErrOrder (a layer has
// fewer), ErrClosed, ane.ErrStale.
func (c *Cache) Advance(n int) error {
	if err := c.usable("advance"); err != nil {
		return err
	}
	if n < 1 {
		return newError("advance", ErrSize, fmt.Sprintf("%d tokens", n), "")
	}
	for layer, has := range c.pending {
		if has < n {
			return newError("advance", ErrOrder, fmt.Sprintf("layer %d has %d of %d tokens", layer, has, n),
				"append to every layer before Advance")
		}
	}
	for layer := range c.pending {
		c.pending[layer] -= n
	}
	c.next += n
	c.memory.touched = max(c.memory.touched, c.next)
	if n < sparingMany {
		if c.undropped += n; c.undropped >= sparingFew {
			c.dropAll()
		}
	}
	return nil
}

// Truncate keeps the oldest n tokens and drops the others, and those that were appended without Advance. The error is
// ErrSize if the cache has fewer.
func (c *Cache) Truncate(n int) error {
	if err := c.usable("truncate"); err != nil {
		return err
	}
	if n < 0 || n > c.Len() {
		return newError("truncate", ErrSize, fmt.Sprintf("%d tokens of %d", n, c.Len()), "")
	}
	clear(c.pending)
	c.first = min(c.first, c.next)
	c.next = c.first + n
	return nil
}

// Reserve makes room for a number of tokens, rounded up to a multiple of Step: a cache with less moves to new memory.
// In a cache with a window it does nothing.
//
// Errors: ErrSize, ErrClosed, ane.ErrStale, and those of New. After an error the cache is what it was.
func (c *Cache) Reserve(tokens int) error {
	if err := c.usable("reserve"); err != nil {
		return err
	}
	if tokens < 0 || tokens > maxCount {
		return newError("reserve", ErrSize, fmt.Sprintf("%d tokens", tokens), fmt.Sprintf("it is from 0 to %d", maxCount))
	}
	if c.slides || inSteps(tokens) <= c.memory.tokens {
		return nil
	}
	return c.move("reserve", inSteps(tokens))
}

// Clear drops all tokens; positions begin at 0 again. Tensors stay valid.
func (c *Cache) Clear() {
	if c == nil {
		return
	}
	clear(c.pending)
	c.first, c.next = 0, 0
}

// Close makes all tensors of the cache stale and frees the memory, except on a Tape: that memory and its tensors are
// the owner's until Tape.Clear. The error is ErrInUse while a Request holds a tensor of the cache's own memory: what it
// holds is freed by a repeated call after Request.Close. A Close of a closed cache without such memory does nothing.
func (c *Cache) Close() error {
	if c.empty() {
		return nil
	}
	err := c.sweep()
	if !c.closed {
		c.closed = true
		c.leave()
		c.buffers, c.spare = [2]buffers{}, nil
		err = errors.Join(err, c.retire())
	}
	switch {
	case err != nil:
		return &Error{Base: errtext.Base{Op: "close", Cause: err}}
	case len(c.retired) > 0:
		return &Error{Base: errtext.Base{Op: "close", Err: ErrInUse, Detail: "a Request holds tensors of the cache",
			Cause: unimem.ErrInUse, Hint: "close the Request, then close the cache again"}}
	}
	return nil
}

// retire retires the memory, and keeps what requests hold for sweep.
func (c *Cache) retire() error {
	err := c.memory.retire()
	if len(c.memory.tapes) > 0 {
		c.retired = append(c.retired, c.memory)
	}
	return err
}

// sweep frees retired memory that no request holds.
func (c *Cache) sweep() (err error) {
	c.retired = slices.DeleteFunc(c.retired, func(m *memory) bool {
		err = errors.Join(err, m.retire())
		return len(m.tapes) == 0
	})
	return err
}

// move brings the cache to new memory of its own.
func (c *Cache) move(op string, tokens int) error {
	m, err := newMemory(c.config, tokens, c.opts)
	if err != nil {
		return &Error{Base: errtext.Base{Op: op, Cause: err}}
	}
	c.copied += int64(m.copySlots(c.memory, func(layer int) int {
		return min(c.next+c.pending[layer], c.memory.tokens)
	}))
	c.undropped = max(1, c.undropped)
	return c.adopt(op, m)
}

// adopt replaces the memory by one that has the tokens of the cache. The error is that of freeing the old memory.
func (c *Cache) adopt(op string, m *memory) error {
	c.leave()
	err := errors.Join(c.sweep(), c.retire())
	c.memory = m
	if err != nil {
		return &Error{Base: errtext.Base{Op: op, Cause: err}}
	}
	return nil
}
