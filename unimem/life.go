package unimem

import (
	"errors"
	"slices"
	"sync/atomic"
)

// life counts the holders of one or more Blocks that are closed together: those of a Grid or
// a Layout share one, so that a single compare-exchange closes all of them or none.
//
// The word is the number of holders, or ended. It publishes no other data: the caller whose
// exchange sets it to ended is the only one that tears down.
type life struct {
	holders atomic.Int64
}

const ended = -1

// part is a Block or Tape of a larger object.
type part interface{ tearDown() error }

// tearDownAll tears down all parts, in their order. If a function of AtClose panics, the others
// are torn down before the panic reaches the caller.
func tearDownAll(parts []part) (err error) {
	var errs []error
	defer func() { err = errors.Join(errs...) }()
	for _, p := range slices.Backward(parts) {
		defer func() { errs = append(errs, p.tearDown()) }()
	}
	return nil
}

// closed is also true for nil, the life of a zero Block or Grid.
func (l *life) closed() bool { return l == nil || l.holders.Load() == ended }

// retain adds a holder unless the life has ended.
func (l *life) retain() bool {
	for !l.closed() {
		n := l.holders.Load()
		if n != ended && l.holders.CompareAndSwap(n, n+1) {
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

// end ends the life and returns true. It returns false if the life has already ended, and
// ErrInUse while there are holders.
func (l *life) end() (bool, error) {
	for !l.closed() {
		switch n := l.holders.Load(); {
		case n > 0:
			return false, ErrInUse
		case l.holders.CompareAndSwap(0, ended):
			return true, nil
		}
	}
	return false, nil
}
