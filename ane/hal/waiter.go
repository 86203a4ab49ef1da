package hal

// waiter waits for a value of a Semaphore. Until it is decided the Semaphore's lock guards it;
// then it belongs to the receiver.
type waiter struct {
	value uint64
	to    receiver
	at    int     // index in the heap of the Semaphore; -1 outside
	err   error   // the failure that decided it
	next  *waiter // in a work list
}

// receiver is told that a waiter was decided. It must not block, and appends the waiters that this
// decides to todo, so that a chain of submissions of any length needs no stack.
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

// run tells the receivers, and those of the waiters that are decided by that. The caller
// holds no lock.
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

// heap has the waiter with the lowest value first.
type heap []*waiter

func (h *heap) add(w *waiter) {
	*h = append(*h, w)
	w.at = len(*h) - 1
	h.up(w.at)
}

// remove takes out the waiter at index i.
func (h *heap) remove(i int) *waiter {
	w, last := (*h)[i], len(*h)-1
	h.swap(i, last)
	(*h)[last] = nil
	*h = (*h)[:last]
	if i < last {
		h.up(i)
		h.down(i)
	}
	w.at = -1
	return w
}

// each calls f with the waiters of the value v at index i and below.
func (h heap) each(i int, v uint64, f func(*waiter)) {
	if i >= len(h) || h[i].value > v {
		return
	}
	if h[i].value == v {
		f(h[i])
	}
	h.each(2*i+1, v, f)
	h.each(2*i+2, v, f)
}

func (h *heap) swap(i, j int) {
	a := *h
	a[i], a[j] = a[j], a[i]
	a[i].at, a[j].at = i, j
}

func (h *heap) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if (*h)[parent].value <= (*h)[i].value {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

func (h *heap) down(i int) {
	for {
		least := i
		for _, c := range []int{2*i + 1, 2*i + 2} {
			if c < len(*h) && (*h)[c].value < (*h)[least].value {
				least = c
			}
		}
		if least == i {
			return
		}
		h.swap(i, least)
		i = least
	}
}
