package wire

import "sync/atomic"

// users counts the calls that use a descriptor, so that its number is given back only
// when no call can mean it any more. The word is the number of calls inside, with shut added
// once nobody else may enter; it publishes nothing but itself.
type users struct{ n atomic.Int64 }

const shut = 1 << 32

// enter reports whether the descriptor may be used until leave.
func (u *users) enter() bool {
	for {
		n := u.n.Load()
		if n >= shut {
			return false
		}
		if u.n.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// leave follows an enter that was granted. It reports whether the caller was the last one
// inside after shut, and so has to close the descriptor.
func (u *users) leave() bool { return u.n.Add(-1) == shut }

// shut lets nobody enter any more. The caller is inside until its own leave.
func (u *users) shut() { u.n.Add(shut + 1) }

// over reports whether shut was called.
func (u *users) over() bool { return u.n.Load() >= shut }
