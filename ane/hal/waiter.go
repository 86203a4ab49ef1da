package hal

import "container/heap"

// waiter waits for a value of a Semaphore. Until it is decided the Semaphore's lock guards it; then it belongs to the
// receiver.
type waiter struct {
	value uint64
	to    receiver
	at    int     // index in the heap of the Semaphore; -1 outside
	err   error   // the failure that decided it
	next  *waiter // in a work list
}

// receiver is told that a waiter was decided. It must not block, and appends the waiters that this decides to todo, so
// that a chain of submissions of any length needs no stack.
type receiver interface {
	met(w *waiter, todo work) work
}

// work is a list of decided waiters, in order.
type work struct{ first, last *waiter }

func (l work) push(w *waiter) work {
	w.next = nil
	if l.last == nil {
		l.first = w
	} else {
		l.last.next = w
	}
	l.last = w
	return l
}

// run tells the receivers, and those of the waiters that are decided by that. The caller holds no lock.
func (l work) run() {
	for l.first != nil {
		w := l.first
		if l.first = w.next; l.first == nil {
			l.last = nil
		}
		w.next = nil
		l = w.to.met(w, l)
	}
}

// waiters is a heap with the lowest value first.
type waiters []*waiter

func (h waiters) Len() int           { return len(h) }
func (h waiters) Less(i, j int) bool { return h[i].value < h[j].value }

func (h waiters) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

// Push is for heap.Push.
func (h *waiters) Push(w any) {
	w.(*waiter).at = len(*h)
	*h = append(*h, w.(*waiter))
}

// Pop is for heap.Remove.
func (h *waiters) Pop() any {
	last := len(*h) - 1
	w := (*h)[last]
	w.at = -1
	(*h)[last] = nil
	*h = (*h)[:last]
	return w
}

func (h *waiters) remove(i int) *waiter { return heap.Remove(h, i).(*waiter) }

// each calls f with the waiters of the value v at index i and below.
func (h waiters) each(i int, v uint64, f func(*waiter)) {
	if i >= len(h) || h[i].value > v {
		return
	}
	if h[i].value == v {
		f(h[i])
	}
	h.each(2*i+1, v, f)
	h.each(2*i+2, v, f)
}
