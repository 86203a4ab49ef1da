package mil

import "slices"

// arena hands out parts of larger slices: a tree takes few allocations. Its zero value is
// empty.
type arena[T any] struct {
	free []T
	size int // of the latest slice
}

// The first slice of an arena is small, for small programs; the following ones are each
// twice as long, up to the largest.
const (
	firstArena = 8
	lastArena  = 512
)

// take returns n zero values in a row. Appending to them copies them.
func (a *arena[T]) take(n int) []T {
	if n > len(a.free) {
		if n > lastArena/4 {
			return make([]T, n)
		}
		a.size = min(max(2*a.size, firstArena, n), lastArena)
		a.free = make([]T, a.size)
	}
	part := a.free[:n:n]
	a.free = a.free[n:]
	return part
}

// stack collects the items of lists that contain each other, and copies each list to an
// arena when it is complete.
type stack[T any] struct {
	items []T
	arena arena[T]
}

// push adds an item. The stack doubles when it is full: append would copy long lists more
// often.
func (s *stack[T]) push(item T) {
	if len(s.items) == cap(s.items) {
		s.items = slices.Grow(s.items, max(firstArena, len(s.items)))
	}
	s.items = append(s.items, item)
}

// since returns the items after the first start ones, and removes them from the stack. It
// returns nil for none.
func (s *stack[T]) since(start int) []T {
	if start == len(s.items) {
		return nil
	}
	list := s.arena.take(len(s.items) - start)
	copy(list, s.items[start:])
	clear(s.items[start:]) // for the garbage collector
	s.items = s.items[:start]
	return list
}
