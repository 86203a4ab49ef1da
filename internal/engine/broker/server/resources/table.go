package resources

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// table holds what a client has of one kind, by number. Its methods may be called from
// several goroutines.
type table[T any] struct {
	mu   sync.Mutex
	open map[uint32]*T
	last *atomic.Uint32 // number that add gave last; tables that share it give none twice
}

func newTable[T any](last *atomic.Uint32) table[T] {
	return table[T]{open: map[uint32]*T{}, last: last}
}

// find is what has a number, nil for nothing.
func (t *table[T]) find(number uint32) *T {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open[number]
}

// put enters x by a number that the client chose.
func (t *table[T]) put(number uint32, x *T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open[number] = x
}

// add enters x by the next free number, which is never 0, and tells x the number before
// another goroutine can find it. It reports false when the table holds limit things.
func (t *table[T]) add(x *T, limit int, tell func(number uint32)) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.open) >= limit {
		return false
	}
	number := t.last.Add(1)
	for number == 0 || t.open[number] != nil {
		number = t.last.Add(1)
	}
	tell(number)
	t.open[number] = x
	return true
}

// remove takes out what has a number.
func (t *table[T]) remove(number uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, number)
}

func (t *table[T]) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.open)
}

// all lists the things.
func (t *table[T]) all() []*T {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Values(t.open))
}
