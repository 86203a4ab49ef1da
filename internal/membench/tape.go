package membench

import (
	"runtime"
	"sync/atomic"

	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem"
)

// Spans of a cache line from a Tape that is cleared every 16384 takes.
const (
	spanSize = 64
	tapeSize = 1 << 20
)

// bump is the floor of Tape: a cursor and an end, one load and one compare-exchange per take.
type bump struct {
	cursor atomic.Uintptr
	total  uintptr // bytes
}

// take takes bytes at a multiple of their number.
func (f *bump) take(size uintptr) (uintptr, bool) {
	for {
		cur := f.cursor.Load()
		at := (cur + size - 1) &^ (size - 1)
		if at+size > f.total {
			return 0, false
		}
		if f.cursor.CompareAndSwap(cur, at+size) {
			return at, true
		}
	}
}

// onTape opens a loop on a Tape of some bytes.
func onTape(size int, loop func(*unimem.Tape) measure.Loop) measure.Opener {
	return func(s *step.T) measure.Loop {
		t := step.Must(unimem.Start(size))
		s.Closing(t.Close)
		return loop(t)
	}
}

// onBump opens a loop on a bump of some bytes.
func onBump(size int, loop func(*bump) measure.Loop) measure.Opener {
	return func(*step.T) measure.Loop { return loop(&bump{total: uintptr(size)}) }
}

func take(t *unimem.Tape) measure.Loop {
	return func(n int) error {
		var last []byte
		for range n {
			s, err := t.Take(spanSize, spanSize)
			if err != nil {
				t.Clear()
			}
			last = s
		}
		runtime.KeepAlive(last)
		return nil
	}
}

func tryTake(t *unimem.Tape) measure.Loop {
	return func(n int) error {
		var last []byte
		for range n {
			s := t.TryTake(spanSize, spanSize)
			if s == nil {
				t.Clear()
			}
			last = s
		}
		runtime.KeepAlive(last)
		return nil
	}
}

func takeOne(t *unimem.Tape) measure.Loop {
	return func(n int) error {
		var last *uint64
		for range n {
			p, err := unimem.TakeOne[uint64](t)
			if err != nil {
				t.Clear()
			}
			last = p
		}
		runtime.KeepAlive(last)
		return nil
	}
}

func bareTake(size uintptr) func(*bump) measure.Loop {
	return func(f *bump) measure.Loop {
		return func(n int) error {
			var last uintptr
			for range n {
				at, ok := f.take(size)
				if !ok {
					f.cursor.Store(0)
				}
				last = at
			}
			runtime.KeepAlive(last)
			return nil
		}
	}
}

func clearTape(t *unimem.Tape) measure.Loop {
	return func(n int) error {
		for range n {
			t.Clear()
		}
		return nil
	}
}

func bareClear(f *bump) measure.Loop {
	return func(n int) error {
		for range n {
			f.cursor.Store(0)
		}
		return nil
	}
}
