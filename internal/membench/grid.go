package membench

import (
	"sync/atomic"
	"testing"

	"github.com/anekit/anekit/unimem"
)

// The spec's example grid has 32 cells; their size does not matter here.
const (
	cellSize = 4 << 10
	cells    = 32
)

// Stack is the floor of Grid: indices linked through an array, the head tagged against ABA.
type Stack struct {
	_    [64]byte
	head atomic.Uint64 // tag above 32 bits of index
	_    [56]byte
	next []atomic.Uint64
}

const none = 1<<32 - 1

// NewStack returns a Stack that holds the indices 0 to n-1.
func NewStack(n int) *Stack {
	s := &Stack{next: make([]atomic.Uint64, n)}
	for i := range n - 1 {
		s.next[i].Store(uint64(i + 1))
	}
	s.next[n-1].Store(none)
	return s
}

// Pop takes the top index; false when the stack is empty.
func (s *Stack) Pop() (int, bool) {
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

// Push puts an index on top.
func (s *Stack) Push(i int) {
	for {
		h := s.head.Load()
		s.next[i].Store(h & none)
		if s.head.CompareAndSwap(h, h&^none|uint64(i)) {
			return
		}
	}
}

func newGrid(b *testing.B) *unimem.Grid {
	g, err := unimem.NewGrid(cellSize, cells)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := g.Close(); err != nil {
			b.Error(err)
		}
	})
	b.ReportAllocs()
	b.ResetTimer()
	return g
}

func gridTakeGive(b *testing.B) {
	g := newGrid(b)
	for range b.N {
		c, err := g.Take()
		if err == nil {
			err = g.Give(c)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func gridTakeGiveFloor(b *testing.B) {
	s := NewStack(cells)
	b.ResetTimer()
	for range b.N {
		i, ok := s.Pop()
		if !ok {
			b.Fatal("empty")
		}
		s.Push(i)
	}
}

func gridTakeGiveParallel(b *testing.B) {
	g := newGrid(b)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if c, err := g.Take(); err == nil {
				_ = g.Give(c)
			}
		}
	})
}

func gridTakeGiveParallelFloor(b *testing.B) {
	s := NewStack(cells)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if i, ok := s.Pop(); ok {
				s.Push(i)
			}
		}
	})
}
