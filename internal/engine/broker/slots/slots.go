// Package slots keeps things that are used again and again, so that a request costs no
// memory.
package slots

// List holds things, each at its place for as long as the List lives. A caller takes an
// idle one and gives it back. The caller's lock guards a List; only At of a bounded List
// needs none.
type List[T any] struct {
	all   []*T // by place; nil beyond n
	n     int
	idle  []*T
	bound bool
}

// New is a List of at most limit things; 0 is no limit.
func New[T any](limit int) List[T] { return List[T]{all: make([]*T, limit), bound: limit > 0} }

// Take returns an idle thing, or what create makes for the next place; nil when all
// things of a bounded List are in use.
func (l *List[T]) Take(create func(place int) *T) *T {
	if n := len(l.idle); n > 0 {
		x := l.idle[n-1]
		l.idle = l.idle[:n-1]
		return x
	}
	if l.n == len(l.all) {
		if l.bound {
			return nil
		}
		l.all = append(l.all, nil)
	}
	x := create(l.n)
	l.all[l.n] = x
	l.n++
	return x
}

// Give takes back what Take returned.
func (l *List[T]) Give(x *T) { l.idle = append(l.idle, x) }

// At is the thing at a place that Take has filled.
func (l *List[T]) At(place int) *T { return l.all[place] }

// All are the things that Take has made, in use or idle.
func (l *List[T]) All() []*T { return l.all[:l.n] }
