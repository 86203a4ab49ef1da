package run

import "sync/atomic"

// share is the consecutive items that one goroutine computes and others may take from its end.
type share struct {
	left atomic.Uint64 // the first item, 32 bits, and the end
}

// set sets the items from lo to hi.
func (s *share) set(lo, hi int) { s.left.Store(uint64(lo)<<32 | uint64(hi)) }

// first takes the first item, if one is left.
func (s *share) first() (item int, ok bool) {
	for {
		left := s.left.Load()
		lo, hi := left>>32, left&(1<<32-1)
		if lo >= hi {
			return 0, false
		}
		if s.left.CompareAndSwap(left, left+1<<32) {
			return int(lo), true
		}
	}
}

// last takes the last item, if one is left.
func (s *share) last() (item int, ok bool) {
	for {
		left := s.left.Load()
		lo, hi := left>>32, left&(1<<32-1)
		if lo >= hi {
			return 0, false
		}
		if s.left.CompareAndSwap(left, left-1) {
			return int(hi - 1), true
		}
	}
}
