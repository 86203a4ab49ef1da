package membench

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/anekit/anekit/unimem"
)

// Spans of a cache line from a Tape that is cleared every 16384 takes.
const (
	spanSize = 64
	tapeSize = 1 << 20
)

// Bump is the floor of Tape: a cursor and an end, one load and one compare-exchange per take.
type Bump struct {
	cursor atomic.Uintptr
	Total  uintptr // bytes
}

// Take returns the offset of size bytes, aligned; false when they do not fit.
func (f *Bump) Take(size, align uintptr) (uintptr, bool) {
	for {
		cur := f.cursor.Load()
		at := (cur + align - 1) &^ (align - 1)
		if at+size > f.Total {
			return 0, false
		}
		if f.cursor.CompareAndSwap(cur, at+size) {
			return at, true
		}
	}
}

// Clear begins at offset 0 again.
func (f *Bump) Clear() { f.cursor.Store(0) }

func start(b *testing.B, size int) *unimem.Tape {
	t, err := unimem.Start(size)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := t.Close(); err != nil {
			b.Error(err)
		}
	})
	b.ReportAllocs()
	b.ResetTimer()
	return t
}

func tapeTake(b *testing.B) {
	t := start(b, tapeSize)
	var last []byte
	for range b.N {
		s, err := t.Take(spanSize, spanSize)
		if err != nil {
			t.Clear()
		}
		last = s
	}
	runtime.KeepAlive(last)
}

func tapeTakeFloor(b *testing.B) {
	f := &Bump{Total: tapeSize}
	b.ResetTimer()
	var last uintptr
	for range b.N {
		at, ok := f.Take(spanSize, spanSize)
		if !ok {
			f.Clear()
		}
		last = at
	}
	runtime.KeepAlive(last)
}

func tapeTakeOne(b *testing.B) {
	t := start(b, tapeSize)
	var last *uint64
	for range b.N {
		p, err := unimem.TakeOne[uint64](t)
		if err != nil {
			t.Clear()
		}
		last = p
	}
	runtime.KeepAlive(last)
}

func tapeTakeOneFloor(b *testing.B) {
	f := &Bump{Total: tapeSize}
	b.ResetTimer()
	var last uintptr
	for range b.N {
		at, ok := f.Take(8, 8)
		if !ok {
			f.Clear()
		}
		last = at
	}
	runtime.KeepAlive(last)
}

func tapeTakeParallel(b *testing.B) {
	t := start(b, tapeSize)
	b.RunParallel(func(pb *testing.PB) {
		var last []byte
		for pb.Next() {
			s, err := t.Take(spanSize, spanSize)
			if err != nil {
				t.Clear()
			}
			last = s
		}
		runtime.KeepAlive(last)
	})
}

func tapeTakeParallelFloor(b *testing.B) {
	f := &Bump{Total: tapeSize}
	b.RunParallel(func(pb *testing.PB) {
		var last uintptr
		for pb.Next() {
			at, ok := f.Take(spanSize, spanSize)
			if !ok {
				f.Clear()
			}
			last = at
		}
		runtime.KeepAlive(last)
	})
}

func tapeClear(b *testing.B) {
	t := start(b, gigabyte)
	for range b.N {
		t.Clear()
	}
}

func tapeClearFloor(b *testing.B) {
	f := &Bump{Total: gigabyte}
	b.ResetTimer()
	for range b.N {
		f.Clear()
	}
}
