package kv

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// minShared is the number of bytes from which two goroutines read and copy.
const minShared = 1 << 20

// inTwo reports whether two goroutines move so many bytes.
func inTwo(bytes int) bool { return bytes >= minShared && runtime.GOMAXPROCS(0) > 1 }

// inTurn calls f for every i below n until one returns false, in two goroutines if two is set. They take one i after
// another: a goroutine that gets no processor leaves them to the other. f gets the number of its goroutine.
func inTurn(n int, two bool, f func(goroutine, i int) bool) {
	var next atomic.Int64
	work := func(goroutine int) {
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if !f(goroutine, i) {
				next.Store(int64(n))
			}
		}
	}
	var other sync.WaitGroup
	if two {
		other.Go(func() { work(1) })
	}
	work(0)
	other.Wait()
}
