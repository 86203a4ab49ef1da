package membench

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/anekit/anekit/internal/measure"
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

func (f *bump) take(size, align uintptr) (uintptr, bool) {
	for {
		cur := f.cursor.Load()
		at := (cur + align - 1) &^ (align - 1)
		if at+size > f.total {
			return 0, false
		}
		if f.cursor.CompareAndSwap(cur, at+size) {
			return at, true
		}
	}
}

func (f *bump) clear() { f.cursor.Store(0) }

// onTape opens a pair of loops on a Tape of some bytes and on a bump.
func onTape(size int, loop func(*unimem.Tape) measure.Loop, floor func(*bump) measure.Loop) opener {
	return func(context.Context) (p measure.Pair, err error) {
		t, err := unimem.Start(size)
		if err != nil {
			return p, err
		}
		return measure.Pair{Loop: loop(t), Floor: floor(&bump{total: uintptr(size)}), Close: t.Close}, nil
	}
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
				at, ok := f.take(size, size)
				if !ok {
					f.clear()
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
			f.clear()
		}
		return nil
	}
}
