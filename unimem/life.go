package unimem

import "sync/atomic"

// life counts the holders of one or more Blocks that end together: those of a Grid or a
// Layout share one, so that closing them is all or nothing with a single compare-exchange.
//
// The word is the number of holders, or ended. It publishes nothing but itself: who wins
// the exchange to ended is alone entitled to tear down.
type life struct {
	holders atomic.Int64
}

const ended = -1

// closed is true for nil too: that of a zero Block or Grid, which was never opened.
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

// end reports whether this very call ended the life, or ErrInUse. A life that ended before
// gives (false, nil).
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
