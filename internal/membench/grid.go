package membench

import (
	"errors"
	"runtime"
	"sync/atomic"

	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem"
)

// The spec's example grid has 32 cells; their size does not matter here.
const (
	cellSize = 4 << 10
	cells    = 32
)

// stack is the floor of Grid: indices linked through an array, the head tagged against ABA.
type stack struct {
	_    [64]byte
	head atomic.Uint64 // tag above 32 bits of index
	_    [56]byte
	next []atomic.Uint64
}

const none = 1<<32 - 1

// newStack returns a stack that holds the indices 0 to n-1.
func newStack(n int) *stack {
	s := &stack{next: make([]atomic.Uint64, n)}
	for i := range n - 1 {
		s.next[i].Store(uint64(i + 1))
	}
	s.next[n-1].Store(none)
	return s
}

// pop takes the top index; there is one.
func (s *stack) pop() int {
	for {
		h := s.head.Load()
		i := int(h & none)
		next := s.next[i].Load()
		if s.head.CompareAndSwap(h, (h|none)+1|next) {
			return i
		}
	}
}

// push puts an index on top.
func (s *stack) push(i int) {
	for {
		h := s.head.Load()
		s.next[i].Store(h & none)
		if s.head.CompareAndSwap(h, h&^none|uint64(i)) {
			return
		}
	}
}

// enough is the number of cells for which none waits for another.
func enough() int { return max(cells, runtime.GOMAXPROCS(0)) }

// onGrid takes a cell and gives it back.
func onGrid(t *step.T) measure.Loop {
	g := step.Must(unimem.NewGrid(cellSize, enough()))
	t.Closing(g.Close)
	return func(n int) error {
		for range n {
			c, err := g.Take()
			if err == nil {
				err = g.Give(c)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// onStack takes the top of a stack and puts it back.
func onStack(*step.T) measure.Loop {
	s := newStack(enough())
	return func(n int) error {
		for range n {
			s.push(s.pop())
		}
		return nil
	}
}

// onTwoOfGrid takes two cells and gives them back.
func onTwoOfGrid(t *step.T) measure.Loop {
	g := step.Must(unimem.NewGrid(cellSize, 2*enough()))
	t.Closing(g.Close)
	return func(n int) error {
		for range n {
			a, errA := g.Take()
			b, errB := g.Take()
			if errA == nil {
				errA = g.Give(a)
			}
			if errB == nil {
				errB = g.Give(b)
			}
			if errA != nil || errB != nil {
				return errors.Join(errA, errB)
			}
		}
		return nil
	}
}

// onTwoOfStack takes the two top indices of a stack and puts them back.
func onTwoOfStack(*step.T) measure.Loop {
	s := newStack(2 * enough())
	return func(n int) error {
		for range n {
			a, b := s.pop(), s.pop()
			s.push(a)
			s.push(b)
		}
		return nil
	}
}
