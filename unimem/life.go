package unimem

import (
	"errors"
	"slices"
	"sync/atomic"
)

// life counts the holders of Blocks that are closed together. Those of a Grid or a Layout share one, so that a single
// compare-exchange closes all of them or none.
//
// The word is the number of holders, or over. It publishes no other data: the caller whose exchange sets it to over
// is the only one that tears down.
type life struct {
	holders atomic.Int64
}

const over = -1

// tearDownAll tears down all parts, in their order. If a function of AtClose panics, the others are torn down before
// the panic reaches the caller.
func tearDownAll[T interface{ tearDown() error }](parts []T) (err error) {
	var errs []error
	defer func() { err = errors.Join(errs...) }()
	for _, p := range slices.Backward(parts) {
		defer func() { errs = append(errs, p.tearDown()) }()
	}
	return nil
}

// closed is also true for nil, the life of a zero Block or Grid.
func (l *life) closed() bool { return l == nil || l.holders.Load() == over }

// retain adds a holder unless the life has ended.
func (l *life) retain() bool {
	for !l.closed() {
		n := l.holders.Load()
		if n != over && l.holders.CompareAndSwap(n, n+1) {
			return true
		}
	}
	return false
}

// release removes a holder and reports whether there was one.
func (l *life) release() bool {
	for !l.closed() {
		n := l.holders.Load()
		if n <= 0 {
			return false
		}
		if l.holders.CompareAndSwap(n, n-1) {
			return true
		}
	}
	return false
}

// end ends the life and returns true. It returns false if the life has already ended, and ErrInUse while there are
// holders.
func (l *life) end() (bool, error) {
	for !l.closed() {
		switch n := l.holders.Load(); {
		case n > 0:
			return false, ErrInUse
		case l.holders.CompareAndSwap(0, over):
			return true, nil
		}
	}
	return false, nil
}

// AtClose registers f, which the goroutine that closes b calls once, before the memory is freed. It is for objects
// derived from the Block's handle that must not outlive it, such as an engine's wrapper of the surface. f must not call
// methods of b. A panic of f reaches the caller of Close after the other functions have run and the memory is freed.
// cancel reports whether it prevented the call of f.
//
// Errors: ErrClosed, ErrOption (f is nil).
func (b *Block) AtClose(f func()) (cancel func() bool, err error) {
	if f == nil {
		return nil, fail("atclose", b.Size(), ErrOption, "pass a function")
	}
	if b != nil && !b.life.closed() {
		if cancel, ok := b.endings.add(f); ok {
			return cancel, nil
		}
	}
	return nil, fail("atclose", b.Size(), ErrClosed, "")
}

// CloseAll closes Blocks together, all or none. It skips nil and Blocks that are closed already. A Retain of one of the
// Blocks at the same time may be refused with ErrClosed although CloseAll closes none.
//
// Errors: ErrInUse (a Block is retained, or a Tape, Grid or Layout owns it; none is closed), ErrRelease (all are
// closed).
func CloseAll(blocks ...*Block) error {
	ended := make([]*Block, 0, len(blocks))
	for _, b := range blocks {
		first, err := b.end()
		if err != nil {
			for _, other := range ended {
				other.life.holders.Store(0)
			}
			return err
		}
		if first {
			ended = append(ended, b)
		}
	}
	return tearDownAll(ended)
}

// RetainAll retains every Block until release is called, once. The error is ErrClosed if a Block is closed; then none
// is retained.
func RetainAll(blocks ...*Block) (release func(), err error) {
	for i, b := range blocks {
		if err := b.Retain(); err != nil {
			releaseAll(blocks[:i])
			return nil, err
		}
	}
	blocks = slices.Clone(blocks)
	return func() { releaseAll(blocks) }, nil
}

func releaseAll(blocks []*Block) {
	for _, b := range blocks {
		b.Release()
	}
}
