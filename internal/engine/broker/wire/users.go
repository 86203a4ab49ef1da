package wire

import "sync/atomic"

// users counts the calls that use a descriptor, so that its number is given back only when no call can
// mean it any more. The word is 1 for the Conn itself and 1 for each call inside, with closing
// added once no call may enter; 0 was never opened. It publishes nothing but itself.
type users struct{ n atomic.Int64 }

const closing = 1 << 32

// open admits calls.
func (u *users) open() { u.n.Store(1) }

// enter reports whether the descriptor may be used until leave.
func (u *users) enter() bool {
	for {
		n := u.n.Load()
		if n == 0 || n >= closing {
			return false
		}
		if u.n.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// leave follows an enter that was granted, or close. It reports whether the caller was the
// last one inside after close, and so has to close the descriptor.
func (u *users) leave() bool { return u.n.Add(-1) == closing }

// close ends entering, and reports whether this very call is the first close. The hold of
// the Conn itself is the caller's until its leave.
func (u *users) close() bool {
	for {
		n := u.n.Load()
		if n == 0 || n >= closing {
			return false
		}
		if u.n.CompareAndSwap(n, n+closing) {
			return true
		}
	}
}

// over reports whether close was called.
func (u *users) over() bool { return u.n.Load() >= closing }
