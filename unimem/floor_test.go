package unimem_test

import (
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/anekit/anekit/internal/membench"
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

// bareTakes returns n takes of the floor of a Tape.
func bareTakes(size uintptr) func(n int) {
	f := &membench.Bump{Total: 1 << 20}
	return func(n int) {
		var last uintptr
		for range n {
			at, ok := f.Take(size, size)
			if !ok {
				f.Clear()
			}
			last = at
		}
		runtime.KeepAlive(last)
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
	s := membench.NewStack(32)
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
			i, ok := s.Pop()
			if !ok {
				b.Fatal("empty")
			}
			s.Push(i)
		}
	})
	if err := g.Close(); err != nil {
		b.Fatal(err)
	}
}
