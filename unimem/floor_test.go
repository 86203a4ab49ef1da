package unimem_test

import (
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anekit/anekit/unimem"
)

// paired runs op and floor in turn, in pieces that are much shorter than a time slice of the
// system, and reports the fastest piece of each and their ratio. So both run under the same
// load, and the figures hold on a busy machine.
func paired(b *testing.B, op, floor func(n int)) {
	const piece, rounds = 2000, 300
	b.ReportAllocs()
	best := [2]float64{math.Inf(1), math.Inf(1)}
	op(piece)
	floor(piece)
	b.ResetTimer()
	for range b.N {
		for range rounds {
			for i, f := range []func(int){op, floor} {
				began := time.Now()
				f(piece)
				best[i] = min(best[i], float64(time.Since(began).Nanoseconds())/piece)
			}
		}
	}
	b.ReportMetric(best[0], "ns/call")
	b.ReportMetric(best[1], "ns/floor")
	b.ReportMetric(best[0]/best[1], "x-floor")
	b.ReportMetric(0, "ns/op") // of all pieces together: not a figure of one call
}

// bareTape is the floor of a Tape: a cursor, one load and one compare-exchange for a take.
type bareTape struct {
	cursor atomic.Uintptr
	total  uintptr
}

func (f *bareTape) take(size, align uintptr) (uintptr, bool) {
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

// bareTakes returns n takes of a bareTape.
func bareTakes(size uintptr) func(n int) {
	f := &bareTape{total: 1 << 20}
	return func(n int) {
		var last uintptr
		for range n {
			at, ok := f.take(size, size)
			if !ok {
				f.cursor.Store(0)
			}
			last = at
		}
		runtime.KeepAlive(last)
	}
}

// bareGrid is the floor of a Grid: indices linked through an array, the head with a tag.
type bareGrid struct {
	_    [64]byte
	head atomic.Uint64 // tag above 32 bits of index
	_    [56]byte
	next []atomic.Uint64
}

const none = 1<<32 - 1

func newBareGrid(n int) *bareGrid {
	s := &bareGrid{next: make([]atomic.Uint64, n)}
	for i := range n - 1 {
		s.next[i].Store(uint64(i + 1))
	}
	s.next[n-1].Store(none)
	return s
}

func (s *bareGrid) pop() (int, bool) {
	for {
		h := s.head.Load()
		i := int(h & none)
		if i >= len(s.next) {
			return 0, false
		}
		next := s.next[i].Load()
		if s.head.CompareAndSwap(h, (h|none)+1|next) {
			return i, true
		}
	}
}

func (s *bareGrid) push(i int) {
	for {
		h := s.head.Load()
		s.next[i].Store(h & none)
		if s.head.CompareAndSwap(h, h&^none|uint64(i)) {
			return
		}
	}
}

func benchTape(b *testing.B) *unimem.Tape {
	t, err := unimem.Start(1 << 20)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := t.Close(); err != nil {
			b.Error(err)
		}
	})
	return t
}

// BenchmarkPairedTake is Take beside its floor: wanted at most 1.25 times.
func BenchmarkPairedTake(b *testing.B) {
	t := benchTape(b)
	paired(b, func(n int) {
		var last []byte
		for range n {
			s, err := t.Take(64, 64)
			if err != nil {
				t.Clear()
			}
			last = s
		}
		runtime.KeepAlive(last)
	}, bareTakes(64))
}

// BenchmarkPairedTakeOne is TakeOne beside its floor: wanted at most 1.25 times.
func BenchmarkPairedTakeOne(b *testing.B) {
	t := benchTape(b)
	paired(b, func(n int) {
		var last *uint64
		for range n {
			p, err := unimem.TakeOne[uint64](t)
			if err != nil {
				t.Clear()
			}
			last = p
		}
		runtime.KeepAlive(last)
	}, bareTakes(8))
}

// BenchmarkPairedTakeSlice is TakeSlice beside the floor of Take.
func BenchmarkPairedTakeSlice(b *testing.B) {
	t := benchTape(b)
	paired(b, func(n int) {
		var last []uint64
		for range n {
			p, err := unimem.TakeSlice[uint64](t, 8)
			if err != nil {
				t.Clear()
			}
			last = p
		}
		runtime.KeepAlive(last)
	}, bareTakes(64))
}

// BenchmarkPairedTakeGive is a take and give of a Grid beside its floor: wanted at most 1.3
// times.
func BenchmarkPairedTakeGive(b *testing.B) {
	g, err := unimem.NewGrid(4<<10, 32)
	if err != nil {
		b.Fatal(err)
	}
	s := newBareGrid(32)
	paired(b, func(n int) {
		for range n {
			c, err := g.Take()
			if err == nil {
				err = g.Give(c)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}, func(n int) {
		for range n {
			i, ok := s.pop()
			if !ok {
				b.Fatal("empty")
			}
			s.push(i)
		}
	})
	if err := g.Close(); err != nil {
		b.Fatal(err)
	}
}
